/** openapi-typescript calls the compiler's JavaScript API, which TypeScript 7 no longer has: here it is given TypeScript 5. */
import { plugin } from 'bun'

plugin({
  name: 'typescript-5',
  setup: (build) =>
    void build.module('typescript', async () => ({ exports: { default: (await import('typescript-5')).default }, loader: 'object' })),
})

/** The types of a client, made of an OpenAPI document. */
export async function typesOf(document: object): Promise<string> {
  const { astToString, default: openapiTS } = await import('openapi-typescript')
  return astToString(await openapiTS(Buffer.from(JSON.stringify(document))))
}

// For the storefront of docs/ and the console: bun test/support/openapi-types.ts DOCUMENT FILE
if (import.meta.main) {
  const [document = '', file = ''] = Bun.argv.slice(2)
  await Bun.write(file, await typesOf(await Bun.file(document).json()))
}
