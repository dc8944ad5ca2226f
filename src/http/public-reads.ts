/** Keeps reads of one client from costing the others: turns by address, a bound for each answer, and one for what waits to be sent. */
import { AppError } from '../core/errors.ts'
import type { Log } from '../lib/log.ts'
import type { Shares } from '../lib/share.ts'
import type { BodyRoom } from './body-room.ts'
import { pathnameOf } from './request-url.ts'
import type { RouteTable, StatedRoute } from './route-table.ts'

type Handle = (request: Request) => Response | Promise<Response>

type Options = {
  readonly handle: Handle
  readonly routeTable: RouteTable
  /** The turns of each client at what is not answered from memory. */
  readonly turns: Shares
  /** The bytes of answers that clients have not taken yet. */
  readonly room: BodyRoom
  /** The address of a client, for its turns. */
  readonly turnKey: (request: Request) => string
  /** Who shares the bytes that wait. */
  readonly senderOf: (request: Request) => string
  readonly log: Log
}

/** The bound of a public answer. */
export const publicBytesMax = 1024 * 1024
/** Shorter answers are not counted: the kernel takes most of them. */
export const countedFrom = 64 * 1024
const pieceBytes = 64 * 1024

const isData = (headers: Headers) => /^(?:application\/json|text\/html)/.test(headers.get('content-type') ?? '')
const isPublicRead = (route: StatedRoute | undefined): boolean => route?.access === 'public' && !route.takesNoTurn

/** Answers requests by `handle`, public reads in turn. */
export function publicReads({ handle, routeTable, turns, room, turnKey, senderOf, log }: Options): Handle {
  /** The same answer, whose bytes are counted while the client has not taken them. */
  async function counted(request: Request, answer: Response, bytesMax: number, path: string): Promise<Response> {
    if (!isData(answer.headers)) return answer
    const { status, headers } = answer
    const bytes = await answer.bytes()
    if (bytes.length > bytesMax) {
      log.error('answer.too_large', { route: path, bytes: bytes.length, bytesMax })
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

  async function inTurn(request: Request, route: StatedRoute): Promise<Response> {
    const answer = await turns.run(turnKey(request), async () => {
      if (request.signal.aborted) throw new AppError('UNAVAILABLE', 'The client has gone')
      return handle(request)
    })
    return counted(request, answer, publicBytesMax, route.path)
  }

  return (request) => {
    if (request.method !== 'GET') return handle(request)
    const route = routeTable.match('GET', pathnameOf(request.url))
    if (route && isPublicRead(route)) return inTurn(request, route)
    if (route?.takesNoTurn) return handle(request)
    const answering = handle(request)
    const count = (answer: Response) => counted(request, answer, Number.POSITIVE_INFINITY, route?.path ?? '')
    return answering instanceof Promise ? answering.then(count) : count(answering)
  }
}
