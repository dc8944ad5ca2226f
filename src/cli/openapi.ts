import { createApp } from '../app.ts'
import { parseConfig } from '../config.ts'
import { type OpenApi, openApiDocument } from '../http/openapi.ts'
import { createRouteTable } from '../http/route-table.ts'
import type { AppDeps } from '../providers.ts'
import { version } from '../version.ts'

/** Stands in for anything: whatever is asked of it, or done with it, is it again. As text it is empty. */
const nothing: unknown = new Proxy(() => nothing, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => '' : nothing),
  apply: () => nothing,
})

/** The OpenAPI document, without an instance: routes are declared and never called, so nothing needs to stand behind them. */
export function apiDocument(): OpenApi {
  const config = parseConfig({})
  const deps = new Proxy({ config, routeTable: createRouteTable() } as unknown as AppDeps, {
    get: (known, name) => Reflect.get(known, name) ?? nothing,
  })
  return openApiDocument(createApp(deps).routes, config.apiV3Prefix, version)
}

/** The document as it is checked in. */
export const apiDocumentText = (): string => `${JSON.stringify(apiDocument(), null, 2)}\n`

/** `souk openapi`: prints the document. */
export function openapi(): number {
  process.stdout.write(apiDocumentText())
  return 0
}
