import { Elysia, t } from 'elysia'
import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import swaggerScript from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import swaggerNotices from 'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt' with { type: 'file' }
import { etagOf } from '../lib/etag.ts'
import { access } from './access.ts'
import type { HttpDeps } from './deps.ts'
import { docsHtml, docsScript, docsStyle, favicon, homeHtml, homeStyle } from './docs-page.ts'
import type { DocumentedRoute } from './openapi.ts'
import { publicJson } from './public-response.ts'
import { errorResponses, notModified } from './schema.ts'
import { type StaticFile, staticFiles } from './static.ts'

const hashOf = (text: string) => `'sha256-${new Bun.CryptoHasher('sha256').update(text).digest('base64')}'`
const policy = (...allowed: string[]) =>
  ["default-src 'none'", ...allowed, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join('; ')

/** The page calls only this origin. Swagger UI draws its icons from data: URLs. */
const docsPolicy = policy("script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'", "font-src 'self'")
const homePolicy = policy(`style-src ${hashOf(homeStyle)}`, "img-src 'self'")

const html = (text: string, contentSecurityPolicy: string) =>
  new Response(text, {
    headers: {
      'content-type': 'text/html;charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    },
  })

const assetCacheControl = 'public, max-age=3600'
const script = 'text/javascript;charset=utf-8'
const style = 'text/css;charset=utf-8'

/** Files of the documentation page: ours, and Swagger UI's, which the compiled program contains. */
const assets: Record<string, StaticFile> = {
  'page.js': { body: docsScript, contentType: script },
  'page.css': { body: docsStyle, contentType: style },
  'favicon.svg': { body: favicon, contentType: 'image/svg+xml' },
  'swagger-ui-bundle.js': { body: Bun.file(swaggerScript), contentType: script },
  'swagger-ui-bundle.js.LICENSE.txt': { body: Bun.file(swaggerNotices), contentType: 'text/plain;charset=utf-8' },
  'swagger-ui.css': { body: Bun.file(swaggerStyle), contentType: style },
}

const Page = t.String({ contentMediaType: 'text/html', description: 'The page.' })

/**
 * Adds the home page, the documentation page and the OpenAPI document.
 * @param routes routes of the app, read when the document is first requested
 */
export function docsRoutes(deps: HttpDeps, routes: () => readonly DocumentedRoute[]) {
  let cached: { body: string; etag: string } | undefined

  async function document() {
    if (cached) return cached
    const { openApiDocument } = await import('./openapi.ts')
    const body = JSON.stringify(openApiDocument(routes(), deps.config.apiV3Prefix, deps.build.version))
    cached = { body, etag: etagOf(body) }
    return cached
  }

  return new Elysia({ tags: ['Service'] })
    .use(access(deps))
    .get('/', () => html(homeHtml(deps.build.version, deps.config.consoleEnabled), homePolicy) as never, {
      access: 'public',
      anyQuery: true,
      takesNoTurn: true,
      response: { 200: Page, ...errorResponses() },
      detail: { operationId: 'getHomePage', summary: 'Returns the home page', description: 'A short page for people.' },
    })
    .get('/docs', () => html(docsHtml, docsPolicy) as never, {
      access: 'public',
      anyQuery: true,
      takesNoTurn: true,
      response: { 200: Page, ...errorResponses() },
      detail: {
        operationId: 'getDocumentationPage',
        summary: 'Returns the documentation page',
        description: 'A page for people. It loads nothing from other hosts.',
      },
    })
    .get(
      '/docs/json',
      async ({ request }) => {
        const { body, etag } = await document()
        return publicJson(request, body, etag) as never
      },
      {
        access: 'public',
        anyQuery: true,
        takesNoTurn: true,
        response: {
          200: t.Object({ openapi: t.String() }, { description: 'The OpenAPI document.' }),
          304: notModified,
          ...errorResponses(),
        },
        detail: { operationId: 'getOpenApiDocument', summary: 'Returns the OpenAPI document' },
      },
    )
    .use(staticFiles(deps, '/docs', assets, assetCacheControl))
}
