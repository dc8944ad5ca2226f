/** Runs openapi-typescript with TypeScript 5, because it needs the JavaScript API that TypeScript 7 removed. */
import { plugin } from 'bun'

plugin({
  name: 'typescript-5',
  setup: (build) =>
    void build.module('typescript', async () => ({ exports: { default: (await import('typescript-5')).default }, loader: 'object' })),
})

/** Returns the TypeScript types of a client for an OpenAPI document. */
export async function typesOf(document: object): Promise<string> {
  const { astToString, default: openapiTS } = await import('openapi-typescript')
  return astToString(await openapiTS(Buffer.from(JSON.stringify(document))))
}

// Used for the storefront of docs/ and the console: bun test/support/openapi-types.ts DOCUMENT FILE
if (import.meta.main) {
  const [document = '', file = ''] = Bun.argv.slice(2)
  await Bun.write(file, await typesOf(await Bun.file(document).json()))
}
