import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { assertShopOrigin } from '../../../http/shop.ts'
import { sendsMail } from '../../messaging/mail/index.ts'
import { findReset, type PasswordResetDeps, requestReset, resetPassword } from './index.ts'
import { ForgotAnswer, ForgotPassword, ResetPassword } from './model.ts'

const sentMessage = 'If there is such an account, a mail is on its way to it'
const notSentMessage = 'No mails are sent here: ask whoever runs this instance'

export const passwordResetRoutes = (deps: HttpDeps & PasswordResetDeps) =>
  routes(deps, 'Login')
    .post(
      '/auth/password/forgot',
      async ({ body: { email, shopName }, request, set }) => {
        const shop = shopName === undefined ? undefined : await deps.identity.shopNamed(shopName)
        assertShopOrigin(request.headers, shop?.origins ?? [])
        // Whether a shop exists is public.
        if (shopName === undefined || shop) await requestReset(deps, { email, shopId: shop?.id ?? null }, deps.callerOf(request))
        set.status = 202
        const sending = sendsMail(deps)
        return { message: sending ? sentMessage : notSentMessage, sending }
      },
      {
        access: 'public',
        body: ForgotPassword,
        response: { 202: ForgotAnswer, ...errorResponses(403, 413, 415, 429) },
        detail: {
          summary: 'Ask for a new password by mail',
          description:
            'Always 202, in the same time, whoever the address belongs to. If it is that of an account, a link goes there with which its owner chooses a password: good once, for 30 minutes. It is also how a customer whom the shop has made (`POST /customer`) gets their first one. Of one account five requests are heard within an hour, the others are answered alike and do nothing; more than 30 an hour from an address are 429. Without a mail server (`SMTP_URL`) nothing is sent.',
        },
      },
    )
    .post(
      '/auth/password/reset',
      async ({ body, request, set }) => {
        if (request.headers.has('origin')) {
          const { shopId = null } = (await findReset(deps, body.token)) ?? {}
          assertShopOrigin(request.headers, (shopId === null ? undefined : await deps.identity.shop(shopId))?.origins ?? [])
        }
        await resetPassword(deps, body, deps.callerOf(request))
        set.status = 204
      },
      {
        access: 'public',
        body: ResetPassword,
        response: { 204: t.Void({ description: 'The password is the new one' }), ...errorResponses(401, 403, 413, 415, 429) },
        detail: {
          summary: 'Choose a new password by the token of a mail',
          description:
            'Ends all sessions of the account, and makes all tokens that were sent for it useless. A token that was used, is older than 30 minutes, or went to an address that the account does not have any more is 401; a password that is refused (400) does not use it up. A second factor is asked for at the next login as before.',
        },
      },
    )
