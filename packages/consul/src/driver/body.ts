/** Size in bytes of the largest response that the client reads. The list of a queue with 100,000 entries has about 50 MiB. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/**
 * Reads the body of a response as text. Rejects when more than `maxBytes` have arrived, which ends the stream.
 */
export async function readBody(
  response: AsyncIterable<Uint8Array>,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`a response of more than ${maxBytes} bytes is not read`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length).toString();
}
