import { createApp } from '../app.ts'
import { parseConfig } from '../config.ts'
import { type OpenApi, openApiDocument } from '../http/openapi.ts'
import { createRouteTable } from '../http/route-table.ts'
import type { AppDeps } from '../providers.ts'
import { version } from '../version.ts'

/** Replaces every dependency: any access or call returns it again. As text it is empty. */
const anything: unknown = new Proxy(() => anything, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : anything),
  apply: () => anything,
})

/** Builds the OpenAPI document without an instance: routes are declared but never called. */
export function apiDocument(): OpenApi {
  const config = parseConfig({})
  const deps = new Proxy({ config, routeTable: createRouteTable() } as unknown as AppDeps, {
    get: (target, name) => Reflect.get(target, name) ?? anything,
  })
  return openApiDocument(createApp(deps).routes, config.apiV3Prefix, version)
}

/** Returns the document as it is checked in. */
export const apiDocumentText = (): string => `${JSON.stringify(apiDocument(), null, 2)}\n`

/** `souk openapi`: prints the document. */
export function openapi(): number {
  process.stdout.write(apiDocumentText())
  return 0
}
