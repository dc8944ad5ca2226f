import { t } from 'elysia'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
import { errorResponses } from '../../../http/schema.ts'
import { assertShopOrigin } from '../../../http/shop.ts'
import { sendsMail } from '../../messaging/mail/index.ts'
import { findReset, type PasswordResetDeps, requestReset, resetPassword } from './index.ts'
import { ForgotAnswer, ForgotPassword, ResetPassword } from './model.ts'

const sentMessage = 'If there is such an account, a mail is on its way to it'
const notSentMessage = 'This instance sends no e-mails: ask its operator'

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
          operationId: 'requestPasswordReset',
          summary: 'Sends an e-mail to reset a password',
          description:
            'Always returns 202, whether or not the account exists, and takes the same time. If it exists, its owner is sent a link to choose a password, which works once, within 30 minutes. Customers whom the shop created (`POST /customer`) get their first password this way. Only five requests an hour for an account send an e-mail. More than 30 an hour from a client address are 429. Without a mail server (`SMTP_URL`), nothing is sent.',
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
        response: { 204: t.Void({ description: 'The password was changed' }), ...errorResponses(401, 403, 413, 415, 429) },
        detail: {
          operationId: 'resetPassword',
          summary: 'Resets a password with a token from an e-mail',
          description:
            'Ends all sessions of the account and invalidates all tokens that were sent for it. The response is 401 if the token was used, is older than 30 minutes, or was sent to an address that the account no longer has. A rejected password (400) does not use up the token. The next login still asks for the second factor.',
        },
      },
    )
