import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { text } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import { pageKinds } from './domain.ts'
import { type AccountPageDeps, openPage, submitPage } from './index.ts'

const PageToken = t.Object({ token: text(200) })
const form = 'application/x-www-form-urlencoded'
const formBytesMax = 4 * 1024
const utf8 = new TextDecoder()

/**
 * Pages for links in mails, for shops without own ones: HTML forms without scripts, not in the API document.
 * They answer 200 also for invalid links, because their content is for people.
 */
export const accountPageRoutes = (deps: HttpDeps & AccountPageDeps) =>
  pageKinds.reduce(
    (app, kind) =>
      app
        .get(`/pages/${kind}/:token`, async ({ params: { token } }) => pageResponse(await openPage(deps, kind, token)) as never, {
          access: 'public',
          anyQuery: true,
          params: PageToken,
          detail: { hide: true },
        })
        .post(
          `/pages/${kind}/:token`,
          async ({ params: { token }, upload, request }) => {
            const fields = new URLSearchParams(utf8.decode(await upload.bytes()))
            const field = (name: string) => fields.get(name) ?? ''
            if ([...fields.values()].some((value) => value.includes('\0')))
              throw new AppError('INVALID', 'body: must not contain a NUL character')
            const submission = { token, password: field('password'), name: field('name') }
            return pageResponse(await submitPage(deps, kind, submission, deps.callerOf(request))) as never
          },
          {
            access: 'public',
            anyQuery: true,
            params: PageToken,
            upload: { types: [form], bytesMax: formBytesMax },
            detail: { hide: true },
          },
        ) as never,
    routes(deps, 'Login'),
  )
