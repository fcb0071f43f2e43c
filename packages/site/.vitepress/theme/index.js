import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { defineComponent, h } from 'vue';
import './style.css';

/** Shows the playground in a frame: it is a separate program with its own React and its own styles. */
function playground() {
  const address = withBase('/playground-page/index.html#/contenders/demo');
  return h('div', { class: 'playground' }, [
    h('iframe', { src: address, title: 'Playground: contenders of one lock' }),
    h('a', { href: address, target: '_blank' }, 'Open the playground in a tab of its own'),
  ]);
}

const Layout = defineComponent({
  name: 'Layout',
  setup() {
    const { page } = useData();
    return () =>
      h(DefaultTheme.Layout, null, {
        'doc-before': () => (page.value.relativePath === 'playground.md' ? playground() : undefined),
      });
  },
});

export default { extends: DefaultTheme, Layout };
