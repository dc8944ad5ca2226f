import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { urlLengthMax } from '../../../http/request-url.ts'
import { noSuchPath } from '../../../http/route-table.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses, notModified, text } from '../../../http/schema.ts'
import { staticResponse } from '../../../http/static.ts'
import { type ConsoleDeps, consoleAsset, consolePage } from './index.ts'
import { assetsPath, consoleHeaders } from './view.ts'

const pageHeaders = { ...consoleHeaders, 'cache-control': 'no-cache' }
/** Names contain a hash of the content. */
const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable', 'cross-origin-resource-policy': 'same-origin' }

/** Unknown files, for which the page is not served. */
const notPage = /^\/console\/assets(\/|$)/

/** Serves the console: one page at every path, and the files that it loads. */
export const consoleRoutes = (deps: HttpDeps & ConsoleDeps) => {
  const access = { by: 'page', while: () => deps.config.consoleEnabled } as const
  const page = async (request: Request) => staticResponse(request, await consolePage(deps), pageHeaders)
  return routes(deps, 'Console')
    .get('/console', ({ request }) => page(request) as never, {
      access,
      anyQuery: true,
      response: {
        200: t.String({ contentMediaType: 'text/html', description: 'The page' }),
        304: notModified,
        ...errorResponses(404),
      },
      detail: {
        operationId: 'getConsolePage',
        summary: 'Returns the console',
        description:
          'The console is a web page for merchants and operators that uses the routes of this document. Every path below it returns the same page, except `/console/assets` and the routes listed here. The response is 404 if `CONSOLE_ENABLED` is false.',
      },
    })
    .get(
      `${assetsPath}/:name`,
      async ({ request, params: { name } }) => {
        const file = await consoleAsset(deps, name)
        if (!file) throw noSuchPath()
        return staticResponse(request, file, assetHeaders) as never
      },
      { access, anyQuery: true, params: t.Object({ name: text(urlLengthMax) }), detail: { hide: true } },
    )
    .get(
      '/console/*',
      ({ request, path }) => {
        if (notPage.test(path)) throw noSuchPath()
        return page(request) as never
      },
      { access, anyQuery: true, detail: { hide: true } },
    )
}
