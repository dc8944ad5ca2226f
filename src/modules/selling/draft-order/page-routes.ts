import { t } from 'elysia'
import { AppError } from '../../../core/errors.ts'
import { publicUrlOf } from '../../../core/public-url.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { text } from '../../../http/schema.ts'
import { pageResponse } from '../../../http/web-page.ts'
import { findHandOff } from '../../agents/hand-off/index.ts'
import { type AbandonedCartDeps, findLinkedCart, noteRestored } from '../abandoned-cart/index.ts'
import { type CartLink, type DraftDeps, fieldsIn, findLinkedDraft, openPayPage, sendPayPage } from './index.ts'

const PageToken = t.Object({ token: text(200) })
const formBytesMax = 16 * 1024

/** Redirects to the page, so that a reload sends nothing again. Relative: no other text contains the token. */
const seeOther = (token: string) =>
  new Response(null, {
    status: 303,
    headers: { location: token, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  })

/** Processors add parameters to the URL that they send a shopper back to. */
const isFromProcessor = (url: string): boolean => new URL(url).search !== ''

type Deps = HttpDeps & DraftDeps & AbandonedCartDeps

/** Find the cart of a page. `isUse`: the shopper acts on the page; scanners of mails only open it. */
const finders = {
  pay: (deps: Deps, token: string) => findLinkedDraft(deps, token),
  async cart(deps: Deps, token: string, isUse: boolean): Promise<CartLink | undefined> {
    const found = await findLinkedCart(deps, token)
    if (found && isUse) await noteRestored(deps, found.cartId)
    return found && { ...found, url: `${publicUrlOf(deps)}/pages/cart/${token}` }
  },
  buy: (deps: Deps, token: string) => findHandOff(deps, token),
} as const

const accessOf = ({ config }: Deps, kind: keyof typeof finders) =>
  ({ by: 'public', while: () => kind !== 'buy' || config.agentsEnabled }) as const

/**
 * The pages where a draft, an abandoned cart or the cart of an agent is paid. Not in the API documents; they answer
 * 200 in every case.
 */
export const payPageRoutes = (deps: Deps) =>
  (['pay', 'cart', 'buy'] as const).reduce(
    (app, kind) =>
      app
        .get(
          `/pages/${kind}/:token`,
          async ({ params: { token }, request }) =>
            pageResponse(await openPayPage(deps, await finders[kind](deps, token, false), isFromProcessor(request.url))) as never,
          { access: accessOf(deps, kind), anyQuery: true, params: PageToken, detail: { hide: true } },
        )
        .post(
          `/pages/${kind}/:token`,
          async ({ params: { token }, upload, request, once }) => {
            const fields = fieldsIn(await upload.bytes())
            if (!fields) throw new AppError('INVALID', 'body: must not contain a NUL character')
            const answer = await sendPayPage(deps, await finders[kind](deps, token, true), fields, {
              address: deps.limitKey(request),
              once: (key, work) => once(200, (_, attempt) => work(attempt), { key, recompute: async () => null }),
            })
            return (answer === 'look' ? seeOther(token) : pageResponse(answer)) as never
          },
          {
            access: accessOf(deps, kind),
            anyQuery: true,
            idempotent: true,
            params: PageToken,
            upload: { types: ['application/x-www-form-urlencoded'], bytesMax: formBytesMax },
            detail: { hide: true },
          },
        ) as never,
    routes(deps, 'Orders'),
  )
