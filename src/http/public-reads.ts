/**
 * Isolates public reads of clients from each other: a queue per address, a size limit per response, and a limit of
 * unsent bytes.
 */
import { AppError } from '../core/errors.ts'
import type { BodyBudget } from '../core/limits/body-budget.ts'
import type { KeyedScheduler } from '../core/limits/scheduler.ts'
import type { Log } from '../lib/log.ts'
import { publicAnswerBytesMax } from '../lib/shorten-texts.ts'
import { isForBrowsers } from './access-rules.ts'
import { errorResponse } from './errors.ts'
import { pathnameOf } from './request-url.ts'
import type { RouteTable, StatedRoute } from './route-table.ts'

type Handle = (request: Request) => Response | Promise<Response>

type Options = {
  readonly handle: Handle
  readonly routeTable: RouteTable
  /** Whether a cache has the response, so that the request needs no place in the queue. */
  readonly isCached: (request: Request, route: StatedRoute) => boolean
  /** The queue of uncached reads per client. */
  readonly turns: KeyedScheduler
  /** Memory of unsent responses. */
  readonly budget: BodyBudget
  /** The client's key in the queue. */
  readonly turnKey: (request: Request) => string
  /** The network that shares the unsent bytes. */
  readonly senderOf: (request: Request) => string
  readonly log: Log
}

/** Smaller responses are not counted, because the kernel buffers most of them. */
export const countedBytesMin = 64 * 1024
const pieceBytes = 64 * 1024

const isData = (headers: Headers) => /^(?:application\/json|text\/html)/.test(headers.get('content-type') ?? '')
const isPublicRead = (route: StatedRoute): boolean => route.access === 'public' && !route.takesNoTurn

/** Wraps a handler: uncached public reads wait in a queue per client. */
export function publicReads({ handle, routeTable, isCached, turns, budget, turnKey, senderOf, log }: Options): Handle {
  /**
   * Counts the bytes of a response until the client has read them.
   * @throws INTERNAL above the limit of public responses
   */
  async function counted(request: Request, answer: Response, path: string): Promise<Response> {
    if (!isData(answer.headers)) return answer
    const { status, headers } = answer
    const bytes = await answer.bytes()
    if (bytes.length > publicAnswerBytesMax) {
      log.error('answer.too_large', { route: path, bytes: bytes.length, bytesMax: publicAnswerBytesMax })
      throw new AppError('INTERNAL', 'The response is too large: request fewer records per page')
    }
    if (bytes.length < countedBytesMin) return new Response(bytes, { status, headers })
    return new Response(sent(bytes, senderOf(request)), { status, headers })
  }

  /** Streams bytes as the client reads them. Breaks off if too many bytes are unsent. */
  function sent(bytes: Uint8Array<ArrayBuffer>, sender: string): ReadableStream<Uint8Array<ArrayBuffer>> {
    let left: Uint8Array<ArrayBuffer> | undefined = bytes
    let reservation: ReturnType<BodyBudget['enter']> | undefined
    const leave = () => {
      left = undefined
      reservation?.release()
    }
    return new ReadableStream(
      {
        pull(controller) {
          // On the first pull, because responses to HEAD are never read.
          if (!reservation) {
            reservation = budget.enter(sender, () => {
              left = undefined
              controller.error(undefined)
            })
            reservation.hold(bytes.length)
          }
          if (!left) return
          controller.enqueue(left.subarray(0, pieceBytes))
          left = left.subarray(pieceBytes)
          if (left.length > 0) return reservation.hold(left.length)
          controller.close()
          leave()
        },
        cancel: leave,
      },
      { highWaterMark: 0 },
    )
  }

  function inTurn(request: Request): Promise<Response> {
    return turns.run(turnKey(request), async () => {
      if (request.signal.aborted) throw new AppError('UNAVAILABLE', 'The client closed the connection')
      return handle(request)
    })
  }

  async function publicRead(request: Request, route: StatedRoute): Promise<Response> {
    try {
      return await counted(request, await (isCached(request, route) ? handle(request) : inTurn(request)), route.path)
    } catch (error) {
      // Errors of this function are logged, so a refusal must become a response here.
      if (error instanceof AppError) return errorResponse(error, isForBrowsers('public'))
      throw error
    }
  }

  return (request) => {
    const route = request.method === 'GET' ? routeTable.match('GET', pathnameOf(request.url)) : undefined
    return route && isPublicRead(route) ? publicRead(request, route) : handle(request)
  }
}
