/**
 * Runs random scenarios of platforms, shoppers and shops that use the same checkouts over both transports. Some
 * batches kill the program.
 */
import { expect } from 'bun:test'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { agentSessions } from '../../db/schema/agents.ts'
import { capabilityNames, releases } from '../../src/lib/ucp/releases.ts'
import { type AgentAction, type AgentBatch, type AgentScenario, agentScenario, type SessionContent } from './agent-actions.ts'
import { buyer, fulfillmentTo, home } from './agent-calls.ts'
import { answerViolations, markOf, totalOf, typedDetails, withoutReleaseDifferences } from './agent-invariants.ts'
import {
  type Platform,
  platformOf,
  publicUrl,
  publishProfiles,
  senderFor,
  type ToolAnswer,
  type ToolRequest,
  type Transport,
  unnamedPlatform,
} from './agent-platforms.ts'
import { agentsOn, enableAgents } from './agents.ts'
import { type Answer, type Json, startTime, type TestApp, testApp } from './app.ts'
import { type Books, booksOf, missingEvents, violationsAtRest, violationsOf } from './books.ts'
import { fewConnections, simulateKill } from './crash.ts'
import { copyOf, type TestDatabase } from './database.ts'
import { formOf, formRequest } from './drafts.ts'
import { changeProcessor, confirmAtSandbox, type Fault, withFaults, withInstantTimeout } from './sandbox.ts'
import { createModelFixture, type Market, type ModelFixture } from './selling-model.ts'

const minuteMs = 60_000
/** Longer than the lease of an idempotency key. */
const restartMs = 40_000
const settings = { ...agentsOn, ...fewConnections, PUBLIC_URL: publicUrl }

/** Creates shops that sell through agents, in a database that each run copies. */
export async function createAgentFixture(): Promise<ModelFixture> {
  const ground = await createModelFixture()
  await using app = await testApp(settings, { database: ground.database })
  for (const { shopId } of ground.markets) await enableAgents(app, shopId)
  return ground
}

/** Totals of which any may have been shown last; undefined if a response was lost. */
type Shown = ReadonlySet<number> | undefined

type Session = {
  readonly id: string
  readonly isCart: boolean
  readonly market: Market
  readonly platform: Platform
  shown: Shown
  /** The status in the last response to its platform. */
  status: string
  /** Path of the page on which a person continues. */
  page?: string
  /** The payment form that the page showed last. */
  form?: Record<string, string>
  /** The cart that the storefront took over by the hand-off. */
  cartId?: string
  /** The total that a person saw last, on the page or in the storefront. */
  seen?: number | undefined
  /** The final state that its platform received. */
  ended?: { status: string; totals: Json; order: Json }
}
/** A request with an idempotency key, and its response. */
type Keyed = { market: Market; platform: Platform; sent: ToolRequest; over: Transport; answer: ToolAnswer | undefined }

/** Counts of events over all runs. Tests check them, because a model in which nothing happens proves nothing. */
export type Tally = Map<string, number>

/** Runs random scenarios on copies of the fixture's database, and checks the invariants after each batch. */
export async function checkAgentModel(ground: ModelFixture, { seed, runs }: { seed: number; runs: number }): Promise<Tally> {
  const seen: Tally = new Map()
  const property = fc.asyncProperty(agentScenario, async (story) => {
    const database = await copyOf(ground.database)
    try {
      await runScenario(story, database, ground.markets, seen)
    } finally {
      await database.drop()
    }
  })
  // Shrinking would repeat scenarios that take many seconds.
  await fc.assert(property, { seed, numRuns: runs, endOnFailure: true })
  return seen
}

async function runScenario({ platforms: plans, batches }: AgentScenario, database: TestDatabase, markets: readonly Market[], seen: Tally) {
  const platforms = [...plans.map((plan, nth) => platformOf(nth, plan)), unnamedPlatform(plans.length, capabilityNames)]
  const model = await modelOn(database, { platforms, markets, seen })
  try {
    for (const batch of batches)
      await model.run(batch).catch((error: unknown) => {
        throw new Error(`in ${JSON.stringify(batch)}`, { cause: error })
      })
    await model.rest()
  } finally {
    await model.close()
  }
}

type World = { readonly platforms: readonly Platform[]; readonly markets: readonly Market[]; readonly seen: Tally }

async function modelOn(database: TestDatabase, { platforms, markets, seen }: World) {
  const sessions: Session[] = []
  const keyed: Keyed[] = []
  let faults: Fault[] = []
  let marks = 0
  /** Attempts to pay in a batch by session, each with the totals that were shown before it. */
  const payers = new Map<Session, { who: string; shown: Shown }[]>()
  /** Totals that responses of a batch showed to platforms; undefined for a lost response. */
  const answered = new Map<Session, (number | undefined)[]>()
  /** Totals among them that the platform could pay next. Results of payments are not included. */
  const offered = new Map<Session, number[]>()
  /** Totals that people saw in a batch; undefined if they could not pay that total, or if the program was killed. */
  const seenByPeople = new Map<Session, (number | undefined)[]>()
  /** Last responses of a batch with a final status, by session. */
  const endings = new Map<Session, Json>()
  const at = <T>(list: readonly T[], nth: number): T | undefined => list[nth % Math.max(1, list.length)]
  const countEvent = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  const add = <Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value) => lists.set(key, [...(lists.get(key) ?? []), value])

  async function open(startAt: number) {
    const opened = await testApp(settings, { database, startAt })
    changeProcessor(opened, withInstantTimeout(opened))
    changeProcessor(opened, (processor) => withFaults(processor, () => faults.shift() ?? 'none'))
    return { app: opened, ...publishProfiles(opened, platforms) }
  }
  let { app, withRelease } = await open(startTime + minuteMs)
  let before = await booksOf(app)

  /** Waits for work of the running program. Work of a killed program never settles. */
  async function alive<Result>(work: Promise<Result>): Promise<Result> {
    const running = app
    const [outcome] = await Promise.allSettled([work])
    if (app !== running) return new Promise(() => undefined)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
  const call = (...args: Parameters<TestApp['call']>) => alive(app.call(...args))
  const requestIn =
    ({ shopName }: Market) =>
    (...args: Parameters<ReturnType<typeof senderFor>>) =>
      alive(senderFor(app, shopName)(...args))

  /** Sends a request of a platform and records what its response shows. */
  async function send(market: Market, platform: Platform, over: Transport, sent: ToolRequest, session?: Session): Promise<ToolAnswer> {
    // A total in a lost response may or may not count as shown.
    if (session) add(answered, session, undefined)
    const transport = platform.profile === null ? 'MCP' : over
    const keyOf: Keyed | undefined = sent.key === undefined ? undefined : { market, platform, sent, over: transport, answer: undefined }
    if (keyOf) keyed.push(keyOf)
    const received = await requestIn(market)(platform, transport, sent)
    if (keyOf) keyOf.answer = received
    assertReceived(platform, sent.tool, received)
    const shownBy = received.body.totals === undefined ? session?.shown : new Set([totalOf(received.body)])
    if (session) {
      forgetLost(session)
      for (const total of shownBy ?? [undefined]) add(answered, session, total)
      if (isOffer(sent, received)) add(offered, session, totalOf(received.body))
      assertEnded(session, received)
      session.status = received.body.status ?? session.status
      if (received.body.status === 'completed' || received.body.status === 'canceled') endings.set(session, received.body)
    } else if (received.body.id !== undefined && received.body.totals !== undefined) register(market, platform, received.body)
    return received
  }

  function isOffer({ tool }: ToolRequest, { body }: ToolAnswer): boolean {
    if (body.totals === undefined) return false
    if (tool === 'complete_checkout') return body.messages.some(({ code }: Json) => code === 'price_changed')
    return body.status === 'ready_for_complete' || body.status === 'incomplete'
  }

  /** Removes one `undefined`, because the response arrived. */
  function forgetLost(session: Session): void {
    const list = answered.get(session) ?? []
    const lost = list.indexOf(undefined)
    answered.set(
      session,
      list.filter((_, nth) => nth !== lost),
    )
  }

  function assertReceived(platform: Platform, tool: string, { status, body }: ToolAnswer): void {
    countEvent(`${tool} ${status} ${body.status ?? body.code ?? body.messages?.[0]?.code ?? ''}`.trim())
    if (!(status === 200 || status === 201 || status === 409 || status === 429 || (status === 503 && body.code === 'unavailable')))
      throw new Error(`${tool}: ${status} ${JSON.stringify(body)}`)
    expect(answerViolations(platform, body)).toEqual([])
  }

  /** Checks that an ended session does not change. */
  function assertEnded({ ended }: Session, { body }: ToolAnswer): void {
    if (!ended || body.status === undefined) return
    if (ended.status === 'completed') expect({ status: body.status, totals: body.totals, order: body.order }).toEqual(ended)
    else expect(body.status).toBe(ended.status)
  }

  function register(market: Market, platform: Platform, body: Json): void {
    if (sessions.some(({ id }) => id === body.id)) return
    const session: Session = {
      id: body.id,
      isCart: body.status === undefined,
      market,
      platform,
      shown: new Set([totalOf(body)]),
      status: body.status ?? '',
    }
    pageOf(session, body)
    sessions.push(session)
  }
  function pageOf(session: Session, { continue_url: url }: Json): void {
    if (typeof url === 'string' && url.startsWith(`${publicUrl}/pages/buy/`)) session.page = new URL(url).pathname
  }

  const key = () => randomUUID()
  function bodyOf(market: Market, platform: Platform, { lines, hasBuyer, destination, hasOption, code }: SessionContent): Json {
    const mark = markOf(platform, marks++)
    const to = destination === 'whole' ? home : { id: 'home', address_country: 'US', address_region: 'ME' }
    return {
      line_items: lines.map(([variant, quantity]) => ({ item: { id: at(market.variants, variant) }, quantity })),
      ...(hasBuyer ? { buyer: { ...buyer, first_name: mark, email: `${mark}@example.com` } } : {}),
      ...(destination === 'none' ? {} : { fulfillment: fulfillmentTo(to, hasOption ? (market.ships ? 'post' : 'free') : undefined) }),
      ...(code === null ? {} : { discounts: { codes: [code] } }),
    }
  }
  const instrument = (handler: string, token: string): Json => ({
    payment: { instruments: [{ id: 'one', handler_id: handler, type: 'token', selected: true, credential: { type: 'token', token } }] },
  })
  const checkouts = () => sessions.filter(({ isCart }) => !isCart)
  /** Selects a session, mostly one that has not ended. */
  const openOne = (nth: number, of = checkouts()): Session | undefined => {
    const unfinished = of.filter(({ ended }) => !ended)
    return at(nth % 5 === 0 || unfinished.length === 0 ? of : unfinished, nth)
  }

  async function complete({ session: nth, over, token, handler }: Extract<AgentAction, { do: 'complete' }>) {
    const ready = checkouts().filter(({ status }) => status === 'ready_for_complete')
    const session = openOne(nth, nth % 3 === 0 || ready.length === 0 ? checkouts() : ready)
    if (!session) return
    add(payers, session, { who: 'platform', shown: session.shown })
    const sent = { tool: 'complete_checkout', id: session.id, body: instrument(handler, token), key: key() }
    await send(session.market, session.platform, over, sent, session)
  }

  /** Repeats a request with the same idempotency key. */
  async function repeat({ request, over, isOtherBody }: Extract<AgentAction, { do: 'repeat' }>) {
    const earlier = at(keyed, request)
    if (!earlier) return
    const { market, platform, sent, answer } = earlier
    const session = sessions.find(({ id }) => id === sent.id)
    const transport = platform.profile === null ? 'MCP' : over
    const isCompletion = sent.tool === 'complete_checkout'
    if (isOtherBody && answer && sent.body !== undefined) {
      if (answer.status >= 300) return
      const other = await requestIn(market)(platform, transport, { ...sent, body: { ...sent.body, ignored: true } })
      expect([sent.tool, other.status, other.body.code]).toEqual([sent.tool, 409, 'idempotency_conflict'])
      countEvent('key with another body')
      return
    }
    if (session && isCompletion) add(payers, session, { who: 'repeat', shown: session.shown })
    // Only the first successful response shows the platform something new. A refused request may succeed now.
    const hadAnswer = answer !== undefined && answer.status < 300
    const isNew = session && (!hadAnswer || isCompletion)
    if (isNew) add(answered, session, undefined)
    const again = await requestIn(market)(platform, transport, sent)
    assertReceived(platform, `repeated ${sent.tool}`, again)
    if (isNew) {
      forgetLost(session)
      if (isOffer(sent, again)) add(offered, session, totalOf(again.body))
      for (const total of [...(session.shown ?? [undefined]), ...(again.body.totals ? [totalOf(again.body)] : [])])
        add(answered, session, total)
    }
    if (!hadAnswer) {
      earlier.answer = again
      if (again.body.totals !== undefined && !session) register(market, platform, again.body)
      return
    }
    if (again.body.code === 'idempotency_conflict' || isCompletion) return
    expect(again).toEqual({ ...answer, status: again.status })
    countEvent('repeated answer')
  }

  /** Requests a session of another platform or shop. The response must equal that for an unknown id. */
  async function steal({ session: nth, platform: who, over, verb }: Extract<AgentAction, { do: 'steal' }>) {
    const session = at(sessions, nth)
    const thief = at(platforms, who)
    if (!session || !thief) return
    const market = thief === session.platform ? markets.find((other) => other !== session.market) : session.market
    if (!market) return
    const kind = session.isCart ? 'cart' : 'checkout'
    if (session.isCart && verb === 'complete') return
    const tool = `${verb}_${kind}`
    const transport = thief.profile === null ? 'MCP' : over
    const ask = (id: string) => {
      const body = verb === 'complete' ? instrument('sandbox', 'tok_success') : { line_items: [] }
      return requestIn(market)(thief, transport, {
        tool,
        id,
        ...(verb === 'get' || verb === 'cancel' ? {} : { body }),
        key: key(),
      })
    }
    const stolenResponse = await ask(session.id)
    expect(stolenResponse).toEqual(await ask(session.id.replace(/.{26}$/, '0'.repeat(26))))
    expect(stolenResponse.body.ucp.status).toBe('error')
    countEvent('stolen id')
  }

  /** Records the total that a person sees. All pages of a session count as one. */
  function recordSeen(session: Session, total: number | undefined): void {
    const list = seenByPeople.get(session) ?? []
    list.splice(list.indexOf(undefined), 1, total)
    session.seen = total
  }

  /** Sends a form of the page on which a person continues. */
  async function onPage(what: 'look' | 'details' | 'code' | 'pay', nth: number) {
    const session = openOne(
      nth,
      checkouts().filter(({ page }) => page !== undefined),
    )
    if (!session?.page) return
    const path = session.page
    const look = async () => {
      add(seenByPeople, session, undefined)
      const page = await call('GET', path)
      if (page.status !== 200) throw new Error(`the page answered ${page.status} ${page.text}`)
      session.form = hasForm(page, 'pay') ? formOf(page, 'pay') : {}
      recordSeen(session, session.form['due'] === undefined ? undefined : Number(session.form['due']))
      return page
    }
    if (what === 'look' || (what === 'pay' && session.form === undefined)) await look()
    if (what === 'details') {
      const page = await look()
      if (!hasForm(page, 'details')) return
      assertSent(await call('POST', path, formRequest({ ...formOf(page, 'details'), ...typedDetails })))
      if (session.market.ships) assertSent(await call('POST', path, formRequest({ step: 'details', shippingMethod: 'post' })))
      await look()
    }
    if (what === 'code') {
      assertSent(await call('POST', path, formRequest({ step: 'code', code: nth % 2 === 0 ? 'EACH' : 'FREE' })))
      await look()
    }
    if (what === 'pay' && session.form?.['due'] !== undefined) {
      add(payers, session, { who: 'page', shown: new Set([Number(session.form['due'])]) })
      assertSent(await call('POST', path, formRequest(session.form)))
      countEvent('page pay')
    }
  }
  const hasForm = ({ text }: Answer, step: string) => text.includes(`name="step" value="${step}"`)
  const assertSent = ({ status, text }: Answer) => {
    if (status !== 200 && status !== 303) throw new Error(`the page answered ${status} ${text}`)
  }

  /** Hands the cart of a session off to the storefront, or buys it there. */
  async function onStorefront(what: 'take' | 'buy', nth: number) {
    const session = openOne(
      nth,
      checkouts().filter(({ page }) => page !== undefined),
    )
    if (!session?.page) return
    const { publishableKey } = session.market
    if (what === 'take' || !session.cartId) {
      const token = session.page.split('/').at(-1)
      const answer = await call('POST', '/cart/handoff', { key: publishableKey, body: { token } })
      countEvent(`handoff ${answer.status}`)
      if (answer.status === 200) {
        session.cartId = answer.body.id
        add(seenByPeople, session, undefined)
        recordSeen(session, answer.body.totals.total.amount)
      }
      if (what === 'take') return
    }
    const { cartId, seen: total } = session
    if (!cartId) return
    add(payers, session, { who: 'storefront', shown: total === undefined ? undefined : new Set([total]) })
    const options = { key: publishableKey, body: { method: 'card' }, headers: { 'idempotency-key': key() } }
    const { status, text } = await call('POST', `/cart/${cartId}/checkout`, options)
    countEvent(`storefront buy ${status}`)
    if (status >= 500 && status !== 503) throw new Error(`the checkout answered ${status} ${text}`)
  }

  async function onShop({ do: what, market: nth, amount }: Extract<AgentAction, { market: number; amount: number }>) {
    const { currency, ships, productId, secretKey, variants } = at(markets, nth) as Market
    const change = (method: string, path: string, body: object) => call(method, path, { key: secretKey, body })
    const money = { amount, currency }
    const variant = variants[0]
    if (what === 'price') await change('PATCH', `/product-v2/${productId}`, { variants: [{ id: variant, price: money }] })
    if (what === 'stock') await change('POST', `/product-v2/${productId}/variants/${variant}/stock`, { counted: amount % 9 })
    if (what === 'tax')
      await change('PUT', '/shops/v2/tax-rates', { data: [{ country: 'US', rateBps: amount, inclusive: amount % 2 === 0 }] })
    if (what === 'rate' && ships)
      await change('PUT', '/shops/v2/shipping-methods', { data: [{ code: 'post', title: 'Post', countries: [], price: money }] })
  }

  async function act(action: AgentAction): Promise<void> {
    switch (action.do) {
      case 'create':
      case 'createCart': {
        const market = at(markets, action.market) as Market
        const platform = at(platforms, action.platform) as Platform
        const tool = action.do === 'create' ? 'create_checkout' : 'create_cart'
        await send(market, platform, action.over, { tool, body: bodyOf(market, platform, action.content), key: key() })
        return
      }
      case 'convert': {
        const cart = at(
          sessions.filter(({ isCart }) => isCart),
          action.session,
        )
        if (!cart) return
        const { market, platform, id } = cart
        const body = { ...bodyOf(market, platform, action.content), cart_id: id }
        await send(market, platform, action.over, { tool: 'create_checkout', body, key: key() })
        return
      }
      case 'replace':
      case 'read':
      case 'cancel': {
        const session = openOne(action.session, sessions)
        if (!session) return
        const { market, platform, id, isCart } = session
        const tool = `${{ replace: 'update', read: 'get', cancel: 'cancel' }[action.do]}_${isCart ? 'cart' : 'checkout'}`
        const body = action.do === 'replace' ? { body: bodyOf(market, platform, action.content) } : {}
        await send(market, platform, action.over, { tool, id, ...body, ...(action.do === 'read' ? {} : { key: key() }) }, session)
        return
      }
      case 'complete':
        return complete(action)
      case 'repeat':
        return repeat(action)
      case 'steal':
        return steal(action)
      case 'look':
      case 'details':
      case 'code':
      case 'pay':
        return onPage(action.do, action.session)
      case 'take':
      case 'buy':
        return onStorefront(action.do, action.session)
      case 'confirm': {
        const payment = at(
          before.sandbox.filter(({ token }) => token === 'tok_action'),
          action.payment,
        )
        if (payment) await confirmAtSandbox(app, payment.id)
        return
      }
      case 'resume':
        return void (await app.jobs.resume())
      case 'close':
        return void (await app.jobs.closeOrders())
      default:
        return onShop(action)
    }
  }

  /** Checks that each new order charged a total that was shown to one of the payers. */
  async function assertCharged(after: Books): Promise<void> {
    const rows = await app.deps.db.read.select().from(agentSessions)
    const knownOrders = new Set(before.orders.map(({ id }) => id))
    for (const { cartId, total, id } of after.orders) {
      const row = rows.find((one) => one.cartId === cartId)
      if (knownOrders.has(id) || !row) continue
      const session = sessions.find((one) => one.id === row.id)
      const attempts = session ? payers.get(session) : undefined
      if (!session || !attempts) throw new Error(`no request paid for the order of ${row.id}`)
      const who = attempts.map((one) => one.who).join(' and ')
      // The same batch may have shown a paying platform another total.
      const inBatch = [
        ...(answered.get(session)?.includes(undefined) ? [undefined] : []),
        ...(/platform|repeat/.test(who) ? (offered.get(session) ?? []) : []),
        ...(who.includes('storefront') ? (seenByPeople.get(session) ?? []) : []),
      ]
      const allowed = [...attempts.flatMap(({ shown }) => (shown ? [...shown] : [undefined])), ...inBatch]
      countEvent(allowed.includes(undefined) ? 'order after a lost answer' : `order of ${who}`)
      if (!allowed.includes(undefined) && !allowed.includes(total)) throw new Error(`${who} paid ${total}, and saw ${allowed}`)
    }
    for (const { id, cartId } of rows) {
      const paid = after.orders.filter((order) => order.cartId === cartId && order.confirmedAt !== null)
      if (paid.length > 1) throw new Error(`${paid.length} orders of ${id}`)
      const ended = sessions.find((one) => one.id === id)?.ended
      if (ended?.status === 'completed') {
        expect([paid[0]?.id, paid[0]?.total]).toEqual([ended.order.id, totalOf(ended)])
        if (paid[0]?.status === 'CONFIRMED') expect(paid[0].capturedTotal).toBe(paid[0].total)
      }
    }
  }

  /** Checks that a session reads the same over both transports and in both releases. */
  async function compare(nth: number): Promise<void> {
    const session = at(sessions, nth)
    if (!session) return
    const { market, platform, id, isCart } = session
    const sent = { tool: isCart ? 'get_cart' : 'get_checkout', id }
    const reads: Json[] = []
    for (const release of platform.profile === null ? [platform.release] : releases)
      await withRelease(platform, release, async () => {
        const over = (transport: Transport) => requestIn(market)(platform, transport, sent, release)
        const { status, body } = await over('MCP')
        expect(status).toBe(200)
        if (platform.profile !== null) expect(await over('REST')).toEqual({ status, body })
        reads.push(body)
      })
    const [first, second] = reads.map(withoutReleaseDifferences)
    if (second) expect(second).toEqual(first)
    if (reads[0].totals !== undefined) session.shown = new Set([totalOf(reads[0])])
    assertEnded(session, { status: 200, body: reads[0] })
    expect(answerViolations(platform, reads[0])).toEqual([])
    pageOf(session, reads[0])
    if (['completed', 'canceled'].includes(reads[0].status)) {
      // A started payment may still complete a session that expired, so only `completed` is final.
      if (reads[0].status === 'completed') session.ended = { status: 'completed', totals: reads[0].totals, order: reads[0].order }
      countEvent(`compared ${reads[0].status}`)
    }
  }

  /** Runs the actions of a batch concurrently. Kills the program after `stopAfter` commits, unless that is 0. */
  async function run({ advanceMs, faults: batchFaults, stopAfter, actions, compared }: AgentBatch): Promise<void> {
    app.clock.advance(advanceMs)
    before = await booksOf(app)
    payers.clear()
    answered.clear()
    offered.clear()
    seenByPeople.clear()
    faults = [...batchFaults]
    const { db } = app.deps
    const { write } = db
    const { stopped } = simulateKill(app, undefined, stopAfter)
    const work = Promise.all(actions.map(act))
    work.catch(() => undefined)
    const isKilled = (await Promise.race([work, stopped])) === 'stopped'
    faults = []
    db.write = write
    if (isKilled) {
      countEvent('killed')
      const restartAt = app.clock.now() + restartMs
      await app.abandon()
      ;({ app, withRelease } = await open(restartAt))
    }
    await app.jobs.messages()
    const after = await booksOf(app)
    expect(violationsOf(after)).toEqual([])
    expect(missingEvents(before, after)).toEqual([])
    await assertCharged(after)
    expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
    for (const [session, { status, totals, order }] of endings) session.ended ??= { status, totals, order }
    endings.clear()
    for (const [session, totals] of answered) session.shown = totals.includes(undefined) ? undefined : new Set(totals as number[])
    if (compared !== null) await compare(compared)
  }

  return {
    run,
    /** Advances the clock until every order is paid or ended, and reads every session a last time. */
    async rest(): Promise<void> {
      before = await booksOf(app)
      for (let rounds = 0; rounds < 20; rounds++) {
        app.clock.advance(31 * minuteMs)
        await app.jobs.resume()
        await app.jobs.closeOrders()
        const { orders, refunds } = await booksOf(app)
        if ([...orders, ...refunds].every(({ resumeAt }) => resumeAt === null)) break
      }
      payers.clear()
      answered.clear()
      offered.clear()
      seenByPeople.clear()
      seenByPeople.clear()
      for (const nth of sessions.keys()) await compare(nth)
      const end = await booksOf(app)
      expect(violationsAtRest(end)).toEqual([])
      await assertCharged(end)
      expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
    },
    close: () => app.abandon(),
  }
}
