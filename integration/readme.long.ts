import { describeExamples } from './readme-examples.ts';

describeExamples('others');
