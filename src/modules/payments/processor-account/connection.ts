/** Asks a processor whether it knows an account's keys: before they are saved, and when a merchant tests them. */
import { processors } from '../../../clients/processors/index.ts'
import { type Processor, ProcessorRefused, ProcessorUnavailable } from '../../../clients/processors/processor.ts'
import { AppError, invalidField } from '../../../core/errors.ts'
import { OutgoingError } from '../../../core/outgoing.ts'
import type { ShopContext } from '../../../core/principal.ts'
import { countAttempt } from '../../identity/auth/index.ts'
import { type AccountBody, type AccountInput, parseAccount, whichOf } from './account-input.ts'
import { accountFor } from './accounts.ts'
import { type Mode, type ProcessorName, testsByShop } from './domain.ts'
import type { ProcessorAccountDeps } from './providers.ts'

/** A request is answered within 28 seconds; a write needs the rest. */
const verificationTimeoutMs = 20_000
const retryAfterSeconds = 30

/** Failures caused by the URL itself. */
const wrongAddress: Readonly<Record<string, string>> = {
  'address not allowed': 'must lead to a public address',
  'port not allowed': 'must not use the port of a service other than a web server',
  redirect: 'must not lead elsewhere: the server answers with a redirect',
}

/** What a processor said about the keys. `names` are the fields that it rejects. */
type Verdict =
  | { readonly result: 'CONNECTED' }
  | { readonly result: 'REJECTED'; readonly names: string; readonly why: string; readonly cause: Error }
  | { readonly result: 'NO_ANSWER'; readonly cause: Error }

type TestedAccount = { readonly processor: ProcessorName; readonly isOwnUrl: boolean }

/** @throws the error of `client` that says nothing about the keys */
async function verdictOf(client: Processor, { processor, isOwnUrl }: TestedAccount): Promise<Verdict> {
  try {
    await client.probe()
    return { result: 'CONNECTED' }
  } catch (error) {
    if (error instanceof ProcessorRefused) return { result: 'REJECTED', ...processors[processor].proof, cause: error }
    if (!(error instanceof ProcessorUnavailable)) throw error
    const cause = error.cause instanceof OutgoingError ? error.cause : undefined
    const untrusted = cause?.kind === 'certificate not trusted' ? cause.message : undefined
    const wrong = !isOwnUrl || cause === undefined ? undefined : (untrusted ?? wrongAddress[cause.kind])
    if (wrong !== undefined) return { result: 'REJECTED', names: 'apiUrl', why: wrong, cause: error }
    return { result: 'NO_ANSWER', cause: error }
  }
}

function clientFor({ processorClients }: ProcessorAccountDeps, { ownUrl, ...opened }: AccountInput): Processor {
  return processorClients.open({ ...opened, trusted: ownUrl === undefined, timeoutMs: verificationTimeoutMs })
}
const testedAccountOf = ({ processor, ownUrl }: AccountInput): TestedAccount => ({ processor, isOwnUrl: ownUrl !== undefined })

/**
 * Checks with the processor that it knows the keys.
 * @throws AppError INVALID, naming the fields that it rejects; UNAVAILABLE when it does not answer
 */
export async function assertKeysAccepted(deps: ProcessorAccountDeps, input: AccountInput): Promise<void> {
  const verdict = await verdictOf(clientFor(deps, input), testedAccountOf(input))
  if (verdict.result === 'CONNECTED') return
  const { cause } = verdict
  if (verdict.result === 'REJECTED') throw invalidField(verdict.names, verdict.why, { cause })
  const message = `${input.processor} could not verify the account: nothing was changed, try again later`
  throw new AppError('UNAVAILABLE', message, { cause, retryAfterSeconds })
}

/** The result of a connection test. */
export type ConnectionTest = {
  readonly processor: ProcessorName
  readonly mode: Mode
  readonly result: Verdict['result']
  /** The fields that the processor rejects. */
  readonly fields: readonly string[]
  readonly message: string
}

/**
 * Tests the connection to a processor with one call, and stores nothing.
 * @param input the account's fields; without any, the account of the shop's new payments in `mode` is tested
 * @throws AppError NOT_FOUND for an unknown processor, or if there is no account to test; INVALID, naming the field;
 *   RATE_LIMITED after twenty within an hour
 */
export async function testConnection(
  deps: ProcessorAccountDeps,
  shop: ShopContext,
  name: string,
  input: AccountBody,
): Promise<ConnectionTest> {
  const which = whichOf(shop, name, input.mode)
  const hasFields = Object.keys(input).some((field) => field !== 'mode')
  const { account, mode, open } = hasFields ? enteredAccount(deps, shop, which.processor, input) : await storedAccount(deps, which)
  await countAttempt(deps, [[testsByShop, shop.id]])
  const verdict = await verdictOf(open(), account)
  return { processor: which.processor, mode, result: verdict.result, ...sentenceOf(which.processor, verdict) }
}

type Testable = { readonly account: TestedAccount; readonly mode: Mode; readonly open: () => Processor }

function enteredAccount(deps: ProcessorAccountDeps, shop: ShopContext, processor: ProcessorName, input: AccountBody): Testable {
  const account = parseAccount(deps.config, processor, shop.mode, input)
  return { account: testedAccountOf(account), mode: account.mode, open: () => clientFor(deps, account) }
}

async function storedAccount(deps: ProcessorAccountDeps, which: ReturnType<typeof whichOf>): Promise<Testable> {
  const account = await accountFor(deps, which)
  if (!account) throw new AppError('NOT_FOUND', 'The shop has no account with this processor in this mode: send its keys')
  return { account, mode: account.mode, open: () => deps.processorClients.openWithTimeout(account, verificationTimeoutMs) }
}

function sentenceOf(processor: ProcessorName, verdict: Verdict): Pick<ConnectionTest, 'fields' | 'message'> {
  switch (verdict.result) {
    case 'CONNECTED':
      return { fields: [], message: `${processor} accepts these keys` }
    case 'REJECTED':
      return { fields: verdict.names.split(', '), message: verdict.why }
    case 'NO_ANSWER':
      return { fields: [], message: `${processor} does not answer: the keys may be right, try again later` }
  }
}
