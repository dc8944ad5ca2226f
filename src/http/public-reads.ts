/** Keeps reads of one client from costing the others: turns by address, a bound for each answer, and one for what waits to be sent. */
import { AppError } from '../core/errors.ts'
import type { Shares } from '../lib/background-throttle.ts'
import type { Log } from '../lib/log.ts'
import { publicAnswerBytesMax } from '../lib/shorten-texts.ts'
import { isForBrowsers } from './access-rules.ts'
import type { BodyRoom } from './body-budget.ts'
import { answerTo } from './errors.ts'
import { pathnameOf } from './request-url.ts'
import type { RouteTable, StatedRoute } from './route-table.ts'

type Handle = (request: Request) => Response | Promise<Response>

type Options = {
  readonly handle: Handle
  readonly routeTable: RouteTable
  /** Whether a cache holds the response, so that the route does no work worth a place in the queue. */
  readonly isCached: (request: Request, route: StatedRoute) => boolean
  /** The queue of each client for uncached reads. */
  readonly turns: Shares
  /** The bytes of answers that clients have not taken yet. */
  readonly room: BodyRoom
  /** The address of a client, for its turns. */
  readonly turnKey: (request: Request) => string
  /** Who shares the bytes that wait. */
  readonly senderOf: (request: Request) => string
  readonly log: Log
}

/** Shorter answers are not counted: the kernel takes most of them. */
export const countedFrom = 64 * 1024
const pieceBytes = 64 * 1024

const isData = (headers: Headers) => /^(?:application\/json|text\/html)/.test(headers.get('content-type') ?? '')
const isPublicRead = (route: StatedRoute): boolean => route.access === 'public' && !route.takesNoTurn

/** Answers requests by `handle`: uncached public reads by turns of each client, all other requests directly. */
export function publicReads({ handle, routeTable, isCached, turns, room, turnKey, senderOf, log }: Options): Handle {
  /**
   * Returns the same response. Its bytes are counted until the client has taken them.
   * @throws INTERNAL above the bound of public responses
   */
  async function counted(request: Request, answer: Response, path: string): Promise<Response> {
    if (!isData(answer.headers)) return answer
    const { status, headers } = answer
    const bytes = await answer.bytes()
    if (bytes.length > publicAnswerBytesMax) {
      log.error('answer.too_large', { route: path, bytes: bytes.length, bytesMax: publicAnswerBytesMax })
      throw new AppError('INTERNAL', 'The answer is too large: ask for fewer records at once')
    }
    if (bytes.length < countedFrom) return new Response(bytes, { status, headers })
    return new Response(sent(bytes, senderOf(request)), { status, headers })
  }

  /** Bytes as a stream that is read as the client takes them. Where too many wait, the answer breaks off. */
  function sent(bytes: Uint8Array<ArrayBuffer>, sender: string): ReadableStream<Uint8Array<ArrayBuffer>> {
    let left: Uint8Array<ArrayBuffer> | undefined = bytes
    let place: ReturnType<BodyRoom['enter']> | undefined
    const leave = () => {
      left = undefined
      place?.leave()
    }
    return new ReadableStream(
      {
        pull(controller) {
          // Not before the first piece is asked for: of the answer to a HEAD none ever is.
          if (!place) {
            place = room.enter(sender, () => {
              left = undefined
              controller.error(undefined)
            })
            place.hold(bytes.length)
          }
          if (!left) return
          controller.enqueue(left.subarray(0, pieceBytes))
          left = left.subarray(pieceBytes)
          if (left.length > 0) return place.hold(left.length)
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
      if (request.signal.aborted) throw new AppError('UNAVAILABLE', 'The client has gone')
      return handle(request)
    })
  }

  async function publicRead(request: Request, route: StatedRoute): Promise<Response> {
    try {
      return await counted(request, await (isCached(request, route) ? handle(request) : inTurn(request)), route.path)
    } catch (error) {
      // A refusal is a normal response: the caller of this function logs what is thrown.
      if (error instanceof AppError) return answerTo(error, isForBrowsers('public'))
      throw error
    }
  }

  return (request) => {
    const route = request.method === 'GET' ? routeTable.match('GET', pathnameOf(request.url)) : undefined
    return route && isPublicRead(route) ? publicRead(request, route) : handle(request)
  }
}
