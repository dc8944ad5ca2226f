import { t } from 'elysia'
import { csvOf } from '../../../http/csv-list-routes.ts'
import type { HttpDeps } from '../../../http/deps.ts'
import { routes } from '../../../http/routes.ts'
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
        summary: 'Who works in the shop',
        description: 'In the order in which they came, those who were invited and have not joined yet among them.',
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
          summary: 'Invite somebody to work in the shop',
          description:
            'A mail goes to the address with a link that is good once, for 7 days; where no mails are sent (`SMTP_URL`), the answer holds the link as `inviteUrl`, this once. Whether the address has an account here is not told. Capitals of an address do not count. Invited again before they have joined, they get a new link, with the role that is named now, and those of before are good no more: that is how an invitation is sent again, and the answer is 201 with the same record. 409 for somebody who works in the shop already, and for more than 100 people in a shop; 429 after 50 invitations within an hour.',
        },
      },
    )
    .get('/shops/v2/staff/:id', ({ params, shop }) => readStaff(deps, shop, params.id), {
      access: 'owner',
      versioned: true,
      params: RecordId,
      response: { 200: StaffRecord, ...errorResponses(401, 403, 404) },
      detail: { summary: 'Somebody who works in the shop, or was invited to' },
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
          summary: 'Give somebody another role',
          description:
            'It counts from the next request on that they make, in every process: tokens say nothing of roles. Of an invitation: the role that it will give. 409 for the only OWNER, who stays one until somebody else has joined as OWNER.',
        },
      },
    )
    .delete(
      '/shops/v2/staff/:id',
      async ({ params, shop, actor, expected, set }) => {
        await removeStaff(deps, { shop, actor, expected }, params.id)
        set.status = 204
      },
      {
        access: 'owner',
        versioned: true,
        params: RecordId,
        response: { 204: t.Void({ description: 'They may do nothing in the shop any more' }), ...errorResponses(401, 403, 404, 409) },
        detail: {
          summary: 'Take somebody out of the shop, or an invitation back',
          description:
            'From the next request on that they make, the shop is 404 to them. Their account stays theirs, as do other shops that they work in. The link of an invitation is good no more. 409 for the only OWNER.',
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
          summary: 'Join a shop by the token of an invitation',
          description:
            'This is no login and passes no second factor: log in by `POST /merchant/login` afterwards. An address without an account gets one with `password`. For an address with an account, `password` is that of the account, and does not change it; a person who forgot it resets it first (`POST /auth/password/forgot`). By link (`inviteUrl`): every address gets 200, so that the shop does not learn whether it has an account. The token is used up. A right password joins at once. A new account joins at its first login and is INVITED until then. After a wrong password the person stays INVITED: invite them again. By mail: the address is proven, and the person joins at once. A wrong password is 401 and keeps the token. The address of an operator, who cannot work in shops, is 409. 400 for a missing, short or common password keeps the token. 401 for a token that was used or taken back, or is older than 7 days.',
        },
      },
    )
