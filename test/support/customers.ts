/** Customers of a shop. */
import { system } from '../../src/core/command-context.ts'
import { startSession } from '../../src/modules/identity/auth/service.ts'
import type { Answer, TestApp } from './app.ts'

type Shop = { id: string; name: string }
let customers = 0

/** Creates a logged-in customer. */
export async function customerIn(app: TestApp, shop: Shop) {
  const email = `customer${++customers}@example.com`
  const password = 'long enough'
  const { body } = await app.call('POST', '/customer/signup', { body: { shopName: shop.name, email, password } })
  const id = String(body.id)
  const { data } = await startSession(app.deps, { id, role: 'CUSTOMER', shopId: shop.id }, system)
  return {
    id,
    email,
    password,
    token: data.accessToken,
    post: (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
      app.call('POST', path, { token: data.accessToken, body, headers }),
    get: (path: string): Promise<Answer> => app.call('GET', path, { token: data.accessToken }),
  }
}
