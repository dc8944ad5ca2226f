import { t } from 'elysia'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { noContent, routes } from '../../../http/routes.ts'
import { errorResponses, pageQuery, RecordId } from '../../../http/schema.ts'
import { assertShopOrigin } from '../../../http/shop.ts'
import { sliceOf } from '../../../lib/page.ts'
import {
  acceptInvitation,
  changeStaff,
  findInvitationToken,
  inviteStaff,
  listStaff,
  readStaff,
  removeStaff,
  type StaffDeps,
} from './index.ts'
import { AcceptInvitation, ChangeStaff, InvitedStaff, InviteStaff, JoinedShop, StaffList, StaffRecord } from './model.ts'

const noStore = { 'cache-control': 'no-store' }

export const staffRoutes = (deps: HttpDeps & StaffDeps) =>
  routes(deps, 'Shops')
    .get('/shops/v2/staff', ({ query, shop }) => listStaff(deps, shop, sliceOf(query)), {
      access: 'owner',
      csv: csvOf('staff', StaffList, ({ shop }, slice) => listStaff(deps, shop, slice), { order: 'asc' }),
      query: t.Object(pageQuery),
      response: { 200: StaffList, ...errorResponses(401, 403, 404) },
      detail: {
        operationId: 'listStaff',
        summary: 'Lists staff',
        description: 'Returns staff and open invitations, in the order of joining and inviting.',
      },
    })
    .post(
      '/shops/v2/staff',
      ({ body, shop, actor, once, set }) => {
        Object.assign(set.headers, noStore)
        return once(201, (write) => inviteStaff(deps, { shop, actor, write }, body))
      },
      {
        access: 'owner',
        idempotent: true,
        body: InviteStaff,
        response: { 201: InvitedStaff, ...errorResponses(401, 403, 404, 409, 413, 415, 422, 429) },
        detail: {
          operationId: 'inviteStaff',
          summary: 'Invites a person to the shop',
          description:
            'An e-mail with a link is sent, which works once, within 7 days. Without a mail server (`SMTP_URL`), the response has the link as `inviteUrl`, only once. The response does not reveal whether the address has an account. Addresses are not case-sensitive. To send an invitation again, or with another role, repeat the call: the response is 201 with the same record, and earlier links stop working. The response is 409 if the person works in the shop already or the shop has 100 people, and 429 after 50 invitations within an hour.',
        },
      },
    )
    .get('/shops/v2/staff/:id', ({ params, shop }) => readStaff(deps, shop, params.id), {
      access: 'owner',
      versioned: true,
      params: RecordId,
      response: { 200: StaffRecord, ...errorResponses(401, 403, 404) },
      detail: { operationId: 'getStaff', summary: 'Returns a staff member or invitation' },
    })
    .patch(
      '/shops/v2/staff/:id',
      ({ params, body, shop, actor, expected }) => changeStaff(deps, { shop, actor, expected }, params.id, body),
      {
        access: 'owner',
        versioned: true,
        params: RecordId,
        body: ChangeStaff,
        response: { 200: StaffRecord, ...errorResponses(401, 403, 404, 409, 413, 415) },
        detail: {
          operationId: 'updateStaff',
          summary: 'Changes the role of a staff member',
          description:
            'Applies from the next request, in every process, because tokens do not contain the role. For an invitation, it is the role that the person will get. The response is 409 for the only OWNER, who can change only after another OWNER has joined.',
        },
      },
    )
    .delete(
      '/shops/v2/staff/:id',
      ({ params, shop, actor, expected, set }) => noContent(set, removeStaff(deps, { shop, actor, expected }, params.id)),
      {
        access: 'owner',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'The person has no access to the shop' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          operationId: 'removeStaff',
          summary: 'Removes a staff member or invitation',
          description:
            "From the next request, the shop is 404 for the person. The person's account and access to other shops remain. The link of an invitation stops working. The response is 409 for the only OWNER.",
        },
      },
    )
    .post(
      '/auth/invitation',
      async ({ body, request }) => {
        if (request.headers.has('origin')) {
          const { shopId = null } = (await findInvitationToken(deps, body.token)) ?? {}
          assertShopOrigin(request.headers, (shopId === null ? undefined : await deps.identity.shop(shopId))?.origins ?? [])
        }
        return acceptInvitation(deps, body, deps.callerOf(request))
      },
      {
        access: 'public',
        body: AcceptInvitation,
        response: { 200: JoinedShop, ...errorResponses(401, 403, 409, 413, 415, 429) },
        detail: {
          operationId: 'acceptInvitation',
          summary: 'Accepts an invitation',
          description: `Afterwards, log in with \`POST /merchant/login\`. If the address has no account, one is created with \`password\`. Otherwise \`password\` must be that of the account; reset it first if it is forgotten (\`POST /auth/password/forgot\`).

A link that was passed on by hand (\`inviteUrl\`): every address gets 200, so that the shop does not learn whether it has an account, and the token is used up. With the correct password the person joins at once; a new account joins at its first login. After a wrong password the person stays INVITED: invite them again.

A link from an e-mail: the address is verified and the person joins at once. A wrong password is 401, and the token still works.

A super admin joins like a merchant.

The response is 400 for a missing, short or common password, which keeps the token, and 401 for a token that was used, withdrawn or is older than 7 days.`,
        },
      },
    )
