import { AppError, fieldError, invalidField } from '../../../core/errors.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { decimalOf, decimalsOf, isCurrency, type Money } from '../../../lib/money.ts'
import { isProcessorName, type Method, type ProcessorName } from '../payment-method/domain.ts'
import { type Offers, offersOf } from '../payment-method/index.ts'
import { type PaymentChoice, processorDefault } from './domain.ts'
import { type ProcessorWithAccount, processorForShop } from './processors.ts'
import type { PaymentDeps } from './providers.ts'

/** How a checkout wants to pay. */
type ProcessorRequest = {
  readonly method: Method
  /** The processor that it names. */
  readonly processor: string | undefined
  /** A token that the shopper's page got from one processor. */
  readonly token: string | undefined
  readonly returnUrl: string | undefined
  /** The idempotency key of the request, hashed. */
  readonly attemptKey: string
}

/** The selected processor, and others to try if it does not start the payment. */
export type Choices = { readonly first: PaymentChoice; readonly fallbacks: readonly PaymentChoice[] }

/**
 * Selects the processor of a checkout: the one that it names, which the resolver must offer for its method (in TEST
 * also the sandbox), otherwise the resolver's first, otherwise in TEST the sandbox. A named processor that does not
 * answer is replaced by the next, unless the checkout has a token of it. Processors that cannot express the amount
 * exactly, or have a higher minimum, are skipped.
 * @param offering the processors offered for each method, if the caller has read them
 * @throws AppError CONFLICT if no processor takes the payment (`amount_too_small` if only the minimum prevents it);
 *   INVALID for a token the processor does not know
 */
export async function selectProcessor(
  deps: PaymentDeps,
  shop: ShopContext,
  request: ProcessorRequest,
  amount: Money,
  offering?: Promise<OfferedProcessors>,
): Promise<Choices> {
  // Nothing to pay.
  if (amount.amount === 0) return { first: { ...request, processor: '', accountId: '', mode: shop.mode }, fallbacks: [] }
  const builtIn = builtInFor(deps, shop, request)
  if (builtIn) return { first: choiceOf(shop, request, builtIn), fallbacks: [] }
  const offers = (await (offering ?? readOfferedProcessors(deps, shop)))(request.method)
  const requested = requestedProcessors(offers, request)
  // A token belongs to one processor.
  const names = request.token === undefined ? requested : requested.slice(0, 1)
  const takers: ProcessorWithAccount[] = []
  for (const name of names) {
    const taker = await processorForShop(deps, shop, name)
    if (taker) takers.push(taker)
  }
  const exact = takers.filter(({ processor }) => processor.capabilities.supportsAmount(amount))
  const eligible = exact.filter(({ processor }) => amount.amount >= minimumOf(processor, amount.currency))
  const [first, ...others] = eligible
  if (!first) {
    const sandbox = request.processor === undefined && shop.mode === 'TEST' ? sandboxFor(deps, request) : undefined
    if (!sandbox && exact.length > 0) throw tooSmall(exact, amount.currency)
    if (!sandbox && takers.length > 0)
      throw new AppError('CONFLICT', `The payment processor cannot charge this exact amount in ${amount.currency}`, {
        code: 'processor_not_available',
      })
    if (!sandbox)
      throw new AppError('CONFLICT', 'The shop has no payment processor for this method: see the payment intent resolver', {
        code: 'processor_not_available',
      })
    return { first: choiceOf(shop, request, sandbox), fallbacks: [] }
  }
  return {
    first: choiceOf(shop, request, first),
    fallbacks: others.map((taker, nth) => choiceOf(shop, { ...request, attemptKey: `${request.attemptKey}/${nth + 1}` }, taker)),
  }
}

const minimumOf = ({ capabilities }: ProcessorWithAccount['processor'], currency: string): number => capabilities.minimums?.[currency] ?? 0

function tooSmall(takers: readonly ProcessorWithAccount[], currency: string): AppError {
  const least = Math.min(...takers.map(({ processor }) => minimumOf(processor, currency)))
  return new AppError(
    'CONFLICT',
    `The amount is too small: the payment processor requires at least ${decimalOf(least, isCurrency(currency) ? decimalsOf(currency) : 0)} ${currency}`,
    {
      code: 'amount_too_small',
    },
  )
}

/** The processors that the resolver offers for a method. */
export type OfferedProcessors = (method: Method) => Offers
/** Reads the processors that a shop can use now. */
export const readOfferedProcessors = (deps: PaymentDeps, shop: ShopContext): Promise<OfferedProcessors> => offersOf(deps, shop)

const choiceOf = (
  { mode }: Pick<ShopContext, 'mode'>,
  { method, token, returnUrl, attemptKey }: ProcessorRequest,
  { processor, accountId }: ProcessorWithAccount,
): PaymentChoice => ({ method, processor: processor.name, accountId, mode, token, returnUrl, attemptKey })

/** @throws AppError CONFLICT for a processor that is not offered */
function requestedProcessors({ now, open }: Offers, { processor: named, token }: ProcessorRequest): readonly ProcessorName[] {
  if (named === undefined) return now
  if (isProcessorName(named)) {
    if (now.includes(named)) return [named, ...now.filter((name) => name !== named)]
    if (open.includes(named) && token === undefined) return now
  }
  throw fieldError('CONFLICT', 'processor', 'not offered for this method now: see the payment intent resolver', {
    code: 'processor_not_available',
  })
}

/** Returns a named processor without accounts: the sandbox of a TEST shop. */
function builtInFor(deps: PaymentDeps, { mode }: Pick<ShopContext, 'mode'>, request: ProcessorRequest): ProcessorWithAccount | undefined {
  if (request.processor === processorDefault) return mode === 'TEST' ? sandboxFor(deps, request) : undefined
  const processor =
    request.processor === undefined || isProcessorName(request.processor) ? undefined : deps.processors.get(request.processor)
  return processor?.mode === mode ? { processor, accountId: '' } : undefined
}

/** @throws AppError INVALID for an unknown token */
function sandboxFor({ processors }: PaymentDeps, { token }: ProcessorRequest): ProcessorWithAccount | undefined {
  const processor = processors.get(processorDefault)
  if (token !== undefined && processor?.tokens && !processor.tokens.includes(token))
    throw invalidField('paymentToken', 'the processor does not know this token')
  return processor && { processor, accountId: '' }
}
