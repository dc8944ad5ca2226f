/** Warnings for saved payment methods that shoppers never see or cannot use. */
import { processorFacts } from '../../../lib/processors.ts'
import { type Method, type ProcessorName, takesWallets } from './domain.ts'
import { type ChainLink, type Resolved, type ResolverInput, resolve } from './resolver.ts'

export type MethodWarning = { readonly method: Method; readonly message: string }

/**
 * Explains why saved methods can never be used. A processor that only does not answer now is no reason.
 * @param payable processors with a secret key behind the page's public key
 */
export function warningsOf(input: ResolverInput, payable: ReadonlySet<ProcessorName>): MethodWarning[] {
  const { methods } = input.shop
  const resolved = resolve({ ...input, open: new Set() })
  const messages: Record<Method, (string | undefined)[]> = {
    card: [methods.card?.enabled ? cardWarning(input, resolved) : undefined, unpayableWarning(resolved.card?.processor, payable)],
    paypal: [
      methods.paypal?.enabled && !resolved.paypal.enabled ? notChosenReason(input, resolved, 'paypal') : undefined,
      unpayableWarning(resolved.paypal.enabled ? 'paypal' : undefined, payable),
    ],
    crypto: [
      methods.crypto?.enabled && !resolved.crypto.enabled ? notChosenReason(input, resolved, 'crypto') : undefined,
      unpayableWarning(resolved.crypto.enabled ? 'btcpay' : undefined, payable),
    ],
    wallet: [
      methods.wallet?.enabled ? walletWarning(input, resolved) : undefined,
      unpayableWarning(resolved.wallet.tokenProvider ?? undefined, payable),
    ],
  }
  return (Object.keys(messages) as Method[]).flatMap((method) =>
    messages[method].flatMap((message) => (message === undefined ? [] : [{ method, message }])),
  )
}

function cardWarning(input: ResolverInput, resolved: Resolved): string | undefined {
  const requested = input.shop.methods.card?.processor
  if (requested !== undefined) return notChosenReason(input, resolved, 'card', requested)
  return resolved.card ? undefined : 'No card processor is set up: choose one and enter its publishable key'
}

function walletWarning(input: ResolverInput, resolved: Resolved): string | undefined {
  const requested = input.shop.methods.wallet?.tokenProvider
  if (requested !== undefined && !takesWallets(requested))
    return `${processorFacts[requested].title} does not support Apple Pay and Google Pay`
  if (requested !== undefined) return notChosenReason(input, resolved, 'wallet', requested)
  return resolved.wallet.enabled
    ? undefined
    : 'No processor that is set up supports Apple Pay and Google Pay: choose one that does (tokenProvider)'
}

/** Returns why a processor was not selected; undefined if it was. */
function notChosenReason(
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

const unpayableWarning = (name: ProcessorName | undefined, payable: ReadonlySet<ProcessorName>): string | undefined =>
  name === undefined || payable.has(name)
    ? undefined
    : `${processorFacts[name].title} cannot take payments yet: connect the account of this publishable key with its secret key`
