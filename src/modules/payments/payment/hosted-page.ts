import { AppError } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import type { Money } from '../../../lib/money.ts'
import type { Method } from '../payment-method/domain.ts'
import { processorDefault } from './domain.ts'
import { processorOf } from './processors.ts'
import type { PaymentDeps } from './providers.ts'
import { readOfferedProcessors, selectProcessor } from './select-processor.ts'

/** A way to pay on the processor's own page, without its script on ours. */
export type HostedPageOption = {
  readonly method: Exclude<Method, 'wallet'>
  readonly processor: string
  readonly isTrial: boolean
}

const methods = ['card', 'paypal', 'crypto'] as const satisfies readonly HostedPageOption['method'][]

/**
 * Lists how a shopper can pay an amount through a link. Wallets need a script on the page and are left out.
 * @returns at most one option for each method, and in TEST the sandbox last
 */
export async function hostedPageOptions(deps: PaymentDeps, shop: ShopContext, amount: Money): Promise<HostedPageOption[]> {
  const ways = await Array.fromAsync(hostedPages(deps, shop, amount))
  // A card processor in TEST may have no page of its own, and a shop tries its links before it has real accounts.
  if (shop.mode === 'TEST' && !ways.some(({ isTrial }) => isTrial))
    ways.push({ method: 'card', processor: processorDefault, isTrial: true })
  return ways
}

/** Returns whether `hostedPageOptions` lists any. In TEST the sandbox is always one. */
export const hasHostedPage = async (deps: PaymentDeps, shop: ShopContext, amount: Money): Promise<boolean> =>
  shop.mode === 'TEST' || !(await hostedPages(deps, shop, amount).next()).done

async function* hostedPages(deps: PaymentDeps, shop: ShopContext, amount: Money): AsyncGenerator<HostedPageOption> {
  const offering = readOfferedProcessors(deps, shop)
  for (const method of methods) {
    const { now } = (await offering)(method)
    // Undefined selects the default processor: in TEST the sandbox.
    for (const processor of now.length > 0 ? now : [undefined]) {
      const request = { method, processor, token: undefined, returnUrl: undefined, attemptKey: '' }
      const found = await selectProcessor(deps, shop, request, amount, offering).catch(noneOf)
      if (!found || (processor === undefined && method !== 'card')) continue
      const bound = await processorOf(deps, found.first)
      if (found.first.processor !== (processor ?? found.first.processor) || !bound?.processor.capabilities.hasHostedPage) continue
      yield { method, processor: found.first.processor, isTrial: found.first.processor === processorDefault }
      break
    }
  }
}

/** A method that no processor can take is left out. */
function noneOf(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error
  return undefined
}

/** Returns the URL of the processor's page from a payment's client parameters; undefined without one. */
export function hostedPageUrl(clientParameters: Readonly<Record<string, unknown>>): string | undefined {
  for (const name of ['redirectUrl', 'approveUrl', 'checkoutLink', 'shortUrl']) {
    const value = clientParameters[name]
    const url = typeof value === 'string' ? URL.parse(value) : null
    if (url && (url.protocol === 'https:' || url.protocol === 'http:')) return url.href
  }
  return undefined
}
