/** Warnings for saved payment methods that shoppers never see or cannot use. */
import { processorFacts } from '../../../lib/processors.ts'
import { type Method, type ProcessorName, takesWallets } from './domain.ts'
import { type ChainLink, type Resolved, type ResolverInput, resolve } from './resolver.ts'

export type MethodWarning = { readonly method: Method; readonly message: string }

/**
 * @param payable processors with a secret key behind what the page begins with
 * @returns why something that was asked for can never be chosen, however the processors are; nothing for what is only
 *   down
 */
export function warningsOf(input: ResolverInput, payable: ReadonlySet<ProcessorName>): MethodWarning[] {
  const { methods } = input.shop
  const resolved = resolve({ ...input, open: new Set() })
  const messages: Record<Method, (string | undefined)[]> = {
    card: [methods.card?.enabled ? cardTrouble(input, resolved) : undefined, unpaid(resolved.card?.processor, payable)],
    paypal: [
      methods.paypal?.enabled && !resolved.paypal.enabled ? reasonOf(input, resolved, 'paypal') : undefined,
      unpaid(resolved.paypal.enabled ? 'paypal' : undefined, payable),
    ],
    crypto: [
      methods.crypto?.enabled && !resolved.crypto.enabled ? reasonOf(input, resolved, 'crypto') : undefined,
      unpaid(resolved.crypto.enabled ? 'btcpay' : undefined, payable),
    ],
    wallet: [
      methods.wallet?.enabled ? walletTrouble(input, resolved) : undefined,
      unpaid(resolved.wallet.tokenProvider ?? undefined, payable),
    ],
  }
  return (Object.keys(messages) as Method[]).flatMap((method) =>
    messages[method].flatMap((message) => (message === undefined ? [] : [{ method, message }])),
  )
}

function cardTrouble(input: ResolverInput, resolved: Resolved): string | undefined {
  const asked = input.shop.methods.card?.processor
  if (asked !== undefined) return reasonOf(input, resolved, 'card', asked)
  return resolved.card ? undefined : 'No card processor is set up: choose one and enter its publishable key'
}

function walletTrouble(input: ResolverInput, resolved: Resolved): string | undefined {
  const asked = input.shop.methods.wallet?.tokenProvider
  if (asked !== undefined && !takesWallets(asked)) return `${processorFacts[asked].title} does not support Apple Pay and Google Pay`
  if (asked !== undefined) return reasonOf(input, resolved, 'wallet', asked)
  return resolved.wallet.enabled
    ? undefined
    : 'No processor that is set up supports Apple Pay and Google Pay: choose one that does (tokenProvider)'
}

/** Why a processor is not the one that was chosen; undefined when it is. */
function reasonOf(
  { shop: { currency, mode } }: ResolverInput,
  { meta }: Resolved,
  method: Method,
  name: ProcessorName = method === 'crypto' ? 'btcpay' : 'paypal',
): string | undefined {
  const links: readonly ChainLink[] = meta.chain.filter((link) => link.method === method && link.candidate === name)
  if (links.some(({ outcome }) => outcome === 'SELECTED')) return undefined
  if (links.some(({ outcome }) => outcome === 'NO_CURRENCY')) return `${processorFacts[name].title} does not support ${currency}`
  const { title } = processorFacts[name]
  const modeText = mode === 'TEST' ? 'test' : 'live'
  return method === 'card' || method === 'wallet'
    ? `${title} has no publishable key for ${modeText} payments: enter one, or connect an account with ${title}`
    : `${title} has no account for ${modeText} payments: connect one`
}

const unpaid = (name: ProcessorName | undefined, payable: ReadonlySet<ProcessorName>): string | undefined =>
  name === undefined || payable.has(name)
    ? undefined
    : `${processorFacts[name].title} cannot take payments yet: connect the account of this publishable key with its secret key`
