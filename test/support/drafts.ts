/** Draft orders of a shop, and browsers that pay them. */
import type { Answer, CallOptions, Json, TestApp } from './app.ts'
import { ok, type Selling } from './selling.ts'

/** Returns the routes of draft orders, called with the shop's credentials. */
export const draftsOf = (shop: Selling) => ({
  create: (body: Json = {}, headers: Record<string, string> = {}): Promise<Answer> =>
    shop.post('/v2/orders/drafts', { lines: [{ variantId: shop.variantId, quantity: 1 }], ...body }, headers),
  read: async (id: string): Promise<Answer['body']> => ok(await shop.get(`/v2/orders/drafts/${id}`)).body,
  change: (id: string, body: Json, headers: Record<string, string> = {}): Promise<Answer> =>
    shop.app.call('PATCH', `/v2/orders/drafts/${id}`, { token: shop.token, body, headers }),
  remove: (id: string, headers: Record<string, string> = {}): Promise<Answer> =>
    shop.app.call('DELETE', `/v2/orders/drafts/${id}`, { token: shop.token, headers }),
})

/** Returns the request that a browser sends for a form. */
export const formRequest = (fields: Record<string, string>): CallOptions => ({
  raw: new URLSearchParams(fields).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
})

/** Returns the requests of a browser without scripts on a payment page. */
export function browserOn(app: TestApp, payUrl: string) {
  const path = new URL(payUrl).pathname
  const look = (): Promise<Answer> => app.call('GET', path)
  const send = (fields: Record<string, string>): Promise<Answer> => app.call('POST', path, formRequest(fields))
  return { path, look, send }
}

/** Returns the unchanged fields of the nth form with this step on a page. */
export function formOf({ text }: Answer, step: string, nth = 0): Record<string, string> {
  const forms = [...text.matchAll(/<form method="post">([\s\S]*?)<\/form>/g)].map(([, content = '']) => content)
  const form = forms.filter((content) => content.includes(`name="step" value="${step}"`))[nth]
  if (form === undefined) throw new Error(`the page has no form to ${step}: ${text}`)
  const inputs = [...form.matchAll(/<input([^>]*)>/g)].map(([, attributes = '']) => {
    const attributeOf = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(` ${attributes}`)?.[1] ?? ''
    return [attributeOf('name'), attributeOf('value')] as const
  })
  const selects = [...form.matchAll(/<select[^>]* name="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g)].map(
    ([, name = '', options = '']) =>
      [name, (/<option value="([^"]*)" selected/.exec(options) ?? /<option value="([^"]*)"/.exec(options))?.[1] ?? ''] as const,
  )
  return Object.fromEntries([...inputs, ...selects])
}
