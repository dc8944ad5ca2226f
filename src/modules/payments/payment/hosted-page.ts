import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { Money } from '../../../lib/money.ts'
import { type Payment, processorDefault } from './domain.ts'
import { processorOf } from './processors.ts'
import type { PaymentDeps } from './providers.ts'
import { readOfferedProcessors, selectProcessor } from './select-processor.ts'

/** A way to pay without a script of the processor's on our page. */
export type HostedPageOption = {
  readonly method: Exclude<Payment['method'], 'wallet'>
  readonly processor: string
  readonly isTrial: boolean
}

const methods = ['card', 'paypal', 'crypto'] as const satisfies readonly HostedPageOption['method'][]

/**
 * How a shop can be paid so much by somebody who is sent on by a link. Wallets are none: they are a script on the page.
 * @returns one way a method; none where the shop has none of a method, or only such as need a script
 */
export async function hostedPageOptions(deps: PaymentDeps, shop: ShopContext, amount: Money): Promise<HostedPageOption[]> {
  const offering = readOfferedProcessors(deps, shop)
  const ways: HostedPageOption[] = []
  for (const method of methods) {
    const { now } = (await offering)(method)
    // Without a name, whatever the shop is paid by where its processors are none of these: in TEST the sandbox.
    for (const processor of now.length > 0 ? now : [undefined]) {
      const wish = { method, processor, token: undefined, returnUrl: undefined, attemptKey: '' }
      const found = await selectProcessor(deps, shop, wish, amount, offering).catch(noneOf)
      if (!found || (processor === undefined && method !== 'card')) continue
      const bound = await processorOf(deps, found.first)
      if (found.first.processor !== (processor ?? found.first.processor) || !bound?.processor.capabilities.byLink) continue
      ways.push({ method, processor: found.first.processor, isTrial: found.first.processor === processorDefault })
      break
    }
  }
  return ways
}

/** What a shop cannot be paid by is no error here. */
function noneOf(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
  return undefined
}

/** Where a payment goes on, of what its processor said to the page; undefined where that is nowhere. */
export function hostedPageUrl(clientParameters: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of ['redirectUrl', 'approveUrl', 'checkoutLink', 'shortUrl']) {
    const value = clientParameters[name]
    const url = typeof value === 'string' ? URL.parse(value) : null
    if (url && (url.protocol === 'https:' || url.protocol === 'http:')) return url.href
  }
  return undefined
}
