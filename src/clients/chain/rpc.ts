/** Asks the nodes of chains by JSON-RPC, in batches. */
import { type Block, type ChainLog, type ChainNode, type Header, type NodeAnswer, NodeError, type Question } from '../../core/chain.ts'
import { OutgoingError, type SafeAnswer, type SafeFetch } from '../../core/outgoing.ts'
import { errorIn, filterOf, headerOf, hexOf, inOrder, logReader, numberOf, type RpcError } from './answers.ts'
import { doubtedOf } from './bloom.ts'
import { failureOf, statusFailure } from './failures.ts'

/** More than this and the range is made smaller. Of each block fifty kilobytes are room for the names of what is in it. */
export const answerMaxBytes = 16 * 1024 * 1024
const timeoutMs = 20_000
/** Logs that are looked at before others have their turn. */
const pieceLogs = 500

export type NodeSettings = {
  readonly url: string
  readonly chainId: number
  readonly safeFetch: SafeFetch
  /** Milliseconds since the epoch, for dates in `Retry-After`. */
  readonly now: () => number
  readonly timeoutMs?: number
  /** Gives up what is under way. */
  readonly signal?: AbortSignal
}

export type Call = { readonly method: string; readonly params: readonly unknown[] }

/** Sends batches to a URL. */
function createSender({ url, safeFetch, signal, ...more }: Omit<NodeSettings, 'chainId' | 'now'>) {
  return async (calls: readonly Call[]): Promise<SafeAnswer> => {
    const hasLogs = calls.some(({ method }) => method === 'eth_getLogs')
    try {
      return await safeFetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
        timeoutMs: more.timeoutMs ?? timeoutMs,
        bytesMax: answerMaxBytes,
        trusted: true,
        ...(signal ? { signal } : {}),
      })
    } catch (error) {
      const kind = error instanceof OutgoingError ? error.kind : 'connection failed'
      // Another error may quote the URL.
      if (kind === 'answer too large' && hasLogs) throw new NodeError('RANGE', `an answer of more than ${answerMaxBytes} bytes`)
      throw new NodeError('FAULT', `no answer: ${error instanceof OutgoingError ? error.message : kind}`)
    }
  }
}

export type CallAnswer = { readonly result: unknown; readonly error: RpcError | undefined }

/**
 * A node that is asked anything, for whoever looks at the answers themselves.
 * @returns what each call of a batch gave, or the error that the node named for it, in their order
 */
export function createCaller(settings: Omit<NodeSettings, 'chainId'>) {
  const send = createSender(settings)
  return {
    host: new URL(settings.url).host,
    /** @throws NodeError where there is no answer to the batch */
    async batch(calls: readonly Call[]): Promise<CallAnswer[]> {
      const results = resultsOf(await send(calls), calls.length, undefined, settings.now())
      return results.map((one) => ({ result: one?.['result'], error: errorIn(one) }))
    },
  }
}

/** A node, which is asked for its chain with every question: behind a URL may stand another one by then. */
export function createNode({ chainId, ...settings }: NodeSettings): ChainNode {
  const { host } = new URL(settings.url)
  const send = createSender(settings)

  return {
    host,
    async ask(question, pace) {
      const { blocks, logs, calls: views = [] } = question
      const asked = logs && logs.to - logs.from + 1
      const calls: Call[] = [
        { method: 'eth_chainId', params: [] },
        ...blocks.map(headerCall),
        ...(logs ? [{ method: 'eth_getLogs', params: [filterOf(logs)] }, headerCall(logs.to)] : []),
        ...views.map((call) => ({ method: 'eth_call', params: [call, 'latest'] })),
      ]
      const answer = await send(calls)
      const paced = await pace.enter()
      try {
        const results = resultsOf(answer, calls.length, asked, settings.now())
        await paced.rest()
        // Where all of a batch was refused, it was for the logs' sake.
        const id = numberOf(givenBy(results.shift(), asked), 'no chain id')
        if (id !== chainId) throw new NodeError('FAULT', `it is a node of chain ${id}`)
        return await answerOf(question, results, answer.bytes.length, paced.rest)
      } finally {
        paced.leave()
      }
    },
  }
}

const headerCall = (block: Block): Call => ({
  method: 'eth_getBlockByNumber',
  params: [typeof block === 'number' ? hexOf(block) : block, false],
})

type Result = Record<string, unknown> | undefined

/** @param asked how many blocks of logs, if any */
function resultsOf({ status, headers, bytes }: SafeAnswer, count: number, asked: number | undefined, now: number): Result[] {
  const bad = statusFailure(status, headers, asked, now)
  const answer = parsed(bytes)
  const results = inOrder(answer, count)
  if (bad) {
    const error = errorIn(answer) ?? (Array.isArray(answer) ? errorIn(answer[0]) : undefined)
    const named = error && failureOf(error, asked)
    throw named && bad.kind === 'FAULT' && named.kind !== 'FAULT' ? named : bad
  }
  if (results) return results
  const error = errorIn(answer)
  throw error ? failureOf(error, asked) : new NodeError('FAULT', 'it answered what is no answer to a batch')
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

/** @throws NodeError where the node names an error instead */
function givenBy(result: Result, asked: number | undefined): unknown {
  const error = errorIn(result)
  if (error) throw failureOf(error, asked)
  return result?.['result']
}

async function answerOf(
  { blocks, logs, calls = [] }: Question,
  results: Result[],
  bytes: number,
  rest: () => Promise<unknown>,
): Promise<NodeAnswer> {
  let knowsNoFinality = false
  const asked = logs && logs.to - logs.from + 1
  const given = logs && givenBy(results[blocks.length], asked)
  const headers = blocks.map((block, nth): Header | undefined => {
    if (block === 'finalized' && isUnknownTag(results[nth])) knowsNoFinality = true
    else return headerAt(results[nth], block)
    return undefined
  })
  if (!logs)
    return { headers, knowsNoFinality, logs: [], doubted: [], results: calls.map((_, nth) => viewOf(results[blocks.length + nth])), bytes }
  const before = headers[blocks.indexOf(logs.to)]
  const after = headerAt(results[blocks.length + 1], logs.to)
  if (!after) throw new NodeError('BEHIND', 'it does not have the blocks yet')
  if (before && before.hash !== after.hash) throw new NodeError('BEHIND', 'its chain changed while it was asked')
  if (!Array.isArray(given)) throw new NodeError('FAULT', 'it answered what was not asked for: logs that are no list')
  const read = logReader(logs)
  const checked: ChainLog[] = []
  for (const log of given as unknown[]) {
    checked.push(read(log))
    if (checked.length % pieceLogs === 0) await rest()
  }
  return { headers, knowsNoFinality, logs: checked, doubted: doubtedOf(headers, logs, checked), results: [], bytes }
}

/** A block that a node does not have may be an error of it. */
function headerAt(result: Result, block: Block): Header | undefined {
  const error = errorIn(result)
  const failure = error && failureOf(error, undefined)
  if (failure?.kind === 'BEHIND') return undefined
  if (failure) throw failure
  return headerOf(result?.['result'], block)
}

const invalidParams = -32_602
const tagWords = /\b(?:tag|hex string|arguments?|param(?:eter)?s?|invalid block)\b/i

/** Whether `finalized` is no word to the node, rather than a block that is not there yet, or a fault of the moment. */
function isUnknownTag(result: Result): boolean {
  const error = errorIn(result)
  if (!error || failureOf(error, undefined).kind !== 'FAULT' || /not found/i.test(error.message)) return false
  return error.code === invalidParams || tagWords.test(error.message)
}

/** A call that failed by itself, by being reverted, gives nothing; one that was not made for another reason fails the batch. */
function viewOf(result: Result): string | undefined {
  const error = errorIn(result)
  if (error) {
    if (error.code === 3 || /revert/i.test(error.message)) return undefined
    throw failureOf(error, undefined)
  }
  const value = result?.['result']
  return typeof value === 'string' && /^0x(?:[0-9a-f]{2})*$/i.test(value) ? value.toLowerCase() : undefined
}
