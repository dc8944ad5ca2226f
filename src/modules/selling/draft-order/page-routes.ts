import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { text } from '../../../http/schema.ts'
import { uploads } from '../../../http/upload.ts'
import { pageResponse } from '../../../http/web-page.ts'
import { type DraftDeps, fieldsIn, openPayPage, sendPayPage } from './index.ts'

const PageToken = t.Object({ token: text(200) })
const formBytesMax = 16 * 1024

/** Redirects to the page, so that a reload sends nothing again. Relative: no other text contains the token. */
const seeOther = (token: string) =>
  new Response(null, {
    status: 303,
    headers: { location: token, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  })

/** The page where a draft is paid. It is not in the API documents, and answers 200 in every case. */
export const payPageRoutes = (deps: HttpDeps & DraftDeps) =>
  routes(deps, 'Orders')
    .use(uploads(deps))
    .get('/pages/pay/:token', async ({ params: { token } }) => pageResponse(await openPayPage(deps, token)) as never, {
      access: 'public',
      anyQuery: true,
      params: PageToken,
      detail: { hide: true },
    })
    .post(
      '/pages/pay/:token',
      async ({ params: { token }, upload, request, once }) => {
        const fields = fieldsIn(await upload.bytes())
        if (!fields) throw new AppError('INVALID', 'body: holds a NUL character')
        const answer = await sendPayPage(deps, token, fields, {
          address: deps.limitKey(request),
          once: (key, work) => once(200, (_, attempt) => work(attempt), { key, anew: async () => null }),
        })
        return (answer === 'look' ? seeOther(token) : pageResponse(answer)) as never
      },
      {
        access: 'public',
        anyQuery: true,
        idempotent: true,
        params: PageToken,
        upload: { types: ['application/x-www-form-urlencoded'], bytesMax: formBytesMax },
        detail: { hide: true },
      },
    )
