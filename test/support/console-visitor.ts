/** Somebody at the console: finds things by their role and name as a screen reader tells them, and works by the keyboard or with a pointer. */
import type { BrowserEvent, Page } from './chromium.ts'
import { isComplaint, openVisit, requestedUrls, untilThere, type Width } from './visit.ts'

export type Scheme = 'light' | 'dark'
export type VisitorOptions = {
  /** 360 or 1280 wide; `desk` unless told. */
  readonly width?: Width
  readonly scheme?: Scheme
  /** What the browser says it speaks: `en` unless told. */
  readonly language?: 'en' | 'ar' | 'mn'
  readonly timeZone?: string
  /** So many milliseconds the browser's clock is off. */
  readonly clockOffMs?: number
  /** Off: the page says what to do. */
  readonly scripts?: boolean
  /** False: the browser takes no cookies, and keeps nothing for the page. For that it is one of a desk (`chromiumOfDesk`). */
  readonly cookies?: boolean
  /** Another tab of this visitor's browser. */
  readonly beside?: ConsoleVisitor
}
export type Login = { readonly email: string; readonly password: string; readonly code?: string | (() => string) }
/** `role`: of several with one name. `within`: the name of a dialog, region, form, group or row, or what a row or an item of a list says. */
export type Where = { readonly role?: string; readonly within?: string | RegExp }

type Node = { readonly backendDOMNodeId: number; readonly role: string; readonly name: string }

const pressable =
  /^(button|link|tab|checkbox|radio|switch|option|menuitem|menuitemcheckbox|menuitemradio|treeitem|DisclosureTriangle|LabelText|columnheader|combobox|gridcell|listitem)$/
const places =
  /^(dialog|alertdialog|region|form|group|radiogroup|navigation|main|complementary|banner|article|table|list|tabpanel|search|status)$/
const rows = /^(row|listitem|article)$/

/** Keys that have names; every other is a character. */
const namedKeys: Readonly<Record<string, { code: number; text?: string }>> = {
  ...{ Tab: { code: 9 }, Enter: { code: 13, text: '\r' }, Escape: { code: 27 }, Space: { code: 32, text: ' ' }, Backspace: { code: 8 } },
  ...{ ArrowLeft: { code: 37 }, ArrowUp: { code: 38 }, ArrowRight: { code: 39 }, ArrowDown: { code: 40 }, Delete: { code: 46 } },
  ...{ Home: { code: 36 }, End: { code: 35 }, PageUp: { code: 33 }, PageDown: { code: 34 } },
}
const modifierBits: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 }

/** So many stops of the Tab key are more than a screen has; who has not come by until then does not. */
const stopsMax = 400

/** Each takes longer than a look. */
const asksMax = 1_000

/** That nobody is logged in yet is found out by asking. */
const alwaysExpected = /^POST \/console\/session 401$/
/** What a browser that runs no scripts makes of those that a page names. */
const notForScripts = /^GET \/console\/assets\/[^ ]+\.js csp$/

export type ConsoleVisitor = Awaited<ReturnType<typeof consoleVisitor>>

/** @param origin where the console is served: nothing else may be asked for anything */
export async function consoleVisitor(origin: string, options: VisitorOptions = {}) {
  const {
    width = 'desk',
    scheme: firstScheme = 'light',
    language = 'en',
    timeZone,
    clockOffMs,
    scripts = true,
    cookies = true,
    beside,
  } = options
  const { page, until, resize, click, reload, traverse, cut, breaches } = await openVisit(width, beside?.page, cookies)
  const { command } = page
  await command('Emulation.setFocusEmulationEnabled', { enabled: true })
  await speak(page, language, beside !== undefined)
  if (timeZone) await command('Emulation.setTimezoneOverride', { timezoneId: timeZone })
  if (!scripts) await command('Emulation.setScriptExecutionDisabled', { value: true })
  if (clockOffMs !== undefined) await command('Page.addScriptToEvaluateOnNewDocument', { source: clockOff(clockOffMs) })
  const scheme = (value: Scheme, more: Readonly<Record<string, string>> = {}) => {
    const wanted = { 'prefers-color-scheme': value, 'prefers-reduced-motion': 'reduce', ...more }
    return command('Emulation.setEmulatedMedia', { features: Object.entries(wanted).map(([name, one]) => ({ name, value: one })) })
  }
  await scheme(firstScheme)

  /** What a function finds out about an element. */
  async function ask<Found>(objectId: string, body: string, ...given: readonly unknown[]): Promise<Found> {
    const { result, exceptionDetails } = (await command('Runtime.callFunctionOn', {
      objectId,
      functionDeclaration: `function (...given) { ${body} }`,
      arguments: given.map((value) => ({ value })),
      returnByValue: true,
      awaitPromise: true,
    })) as { result: { value: Found }; exceptionDetails?: object }
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails))
    return result.value
  }
  async function objectOf(expression: string): Promise<string> {
    const { result } = (await command('Runtime.evaluate', { expression })) as { result: { objectId?: string } }
    if (result.objectId === undefined) throw new Error(`${expression} is nothing`)
    return result.objectId
  }
  async function resolved({ backendDOMNodeId }: Node): Promise<string> {
    const { object } = (await command('DOM.resolveNode', { backendNodeId: backendDOMNodeId })) as { object: { objectId: string } }
    return object.objectId
  }

  /** What there is of that name below an element, as the browser tells it to a screen reader: nothing that is hidden. */
  async function nodesIn(objectId: string, name: string | RegExp | undefined, role?: string): Promise<Node[]> {
    const wanted = { ...(typeof name === 'string' ? { accessibleName: name } : {}), ...(role ? { role } : {}) }
    const { nodes } = (await command('Accessibility.queryAXTree', { objectId, ...wanted })) as { nodes: Told[] }
    const found = nodes.filter(({ ignored, backendDOMNodeId }) => !ignored && backendDOMNodeId !== undefined).map(nodeOf)
    return name instanceof RegExp ? found.filter((node) => name.test(node.name)) : found
  }
  async function textOf(node: Node): Promise<string> {
    return ask<string>(await resolved(node), 'return this.innerText ?? this.textContent').catch(() => '')
  }
  async function rootOf(within: string | RegExp | undefined): Promise<string | undefined> {
    const whole = await objectOf('document')
    if (within === undefined) return whole
    const named = (await nodesIn(whole, within)).find(({ role }) => places.test(role) || rows.test(role))
    if (named) return resolved(named)
    for (const node of await nodesIn(whole, /(?:)/)) {
      if (!rows.test(node.role)) continue
      const said = (await textOf(node)).replace(/\s+/g, ' ')
      if (typeof within === 'string' ? said.includes(within) : within.test(said)) return resolved(node)
    }
    return undefined
  }
  async function nodes(name: string | RegExp | undefined, { role, within }: Where, isSo: (node: Node) => boolean): Promise<Node[]> {
    const root = await rootOf(within)
    return root === undefined ? [] : (await nodesIn(root, name, role)).filter(isSo)
  }

  const said = (name: string | RegExp, { role, within }: Where) =>
    `${role ?? 'something'} that is called ${name}${within ? ` in ${within}` : ''}`
  async function waitFor<Found>(what: string, look: () => Promise<Found | undefined | false>): Promise<Found> {
    let last: unknown
    // What was found may be drawn anew, or the page be another one, while it is asked.
    const found = await untilThere(
      () =>
        look().catch((error: unknown) => {
          last = error
          return undefined
        }),
      asksMax,
    )
    if (found) return found
    const text = await page.evaluate('document.body.innerText').catch(() => '')
    const why = last instanceof Error ? ` (${last.message})` : ''
    throw new Error(`not there: ${what}${why}; there is: ${text}`)
  }

  async function press(name: string | RegExp, where: Where = {}): Promise<void> {
    let covered = ''
    const point = await waitFor(`${said(name, where)} to press`, async () => {
      for (const node of await nodes(name, where, ({ role }) => where.role !== undefined || pressable.test(role))) {
        const at = await ask<{ x: number; y: number; by: string } | undefined>(await resolved(node), measured)
        if (at?.by === '') return at
        covered = at?.by ?? covered
      }
      return undefined
    }).catch((error: Error) => {
      throw covered === '' ? error : new Error(`${name} cannot be pressed: ${covered}`)
    })
    await click(point.x, point.y)
  }

  async function fieldOf(label: string | RegExp, where: Where): Promise<string> {
    return waitFor(`a field that is called ${label}`, async () => {
      for (const node of await nodes(label, where, () => true)) {
        const object = await resolved(node)
        if (await ask<boolean>(object, 'return this.matches?.("input,textarea,select,[contenteditable]") && !this.disabled')) return object
      }
      return undefined
    })
  }

  async function key(combination: string): Promise<void> {
    const parts = combination.split('+')
    const name = parts.pop() ?? ''
    const modifiers = parts.reduce((bits, one) => bits | (modifierBits[one] ?? 0), 0)
    const named = namedKeys[name]
    const text = modifiers & ~8 ? undefined : named ? named.text : name
    const told = {
      ...{ modifiers, key: name === 'Space' ? ' ' : name, code: named ? name : `Key${name.toUpperCase()}` },
      windowsVirtualKeyCode: named?.code ?? name.toUpperCase().charCodeAt(0),
      ...(text === undefined ? {} : { text }),
    }
    await command('Input.dispatchKeyEvent', { type: text === undefined ? 'rawKeyDown' : 'keyDown', ...told })
    await command('Input.dispatchKeyEvent', { type: 'keyUp', ...told })
  }
  const type = (text: string) => command('Input.insertText', { text })

  /** What has the keyboard, as a screen reader tells it. */
  async function focused(): Promise<{ role: string; name: string }> {
    const objectId = await objectOf('document.activeElement ?? document.body')
    const { nodes: found } = (await command('Accessibility.getPartialAXTree', { objectId, fetchRelatives: false })) as { nodes: Told[] }
    const [first] = found
    return first ? { role: nodeOf(first).role, name: nodeOf(first).name } : { role: '', name: '' }
  }
  const fits = (name: string | RegExp, told: string) => (typeof name === 'string' ? told === name : name.test(told))

  /** Goes on by the Tab key until it has come to something. */
  async function tabTo(name: string | RegExp, { role, back = false }: { role?: string; back?: boolean } = {}): Promise<void> {
    await waitFor(said(name, role ? { role } : {}), async () => (await nodes(name, role ? { role } : {}, () => true)).length > 0)
    const stops: string[] = []
    for (let stop = 0; stop < stopsMax; stop++) {
      const at = await focused()
      if (fits(name, at.name) && (role === undefined || role === at.role)) return
      stops.push(`${at.role} ${at.name}`)
      await key(back ? 'Shift+Tab' : 'Tab')
    }
    throw new Error(`the Tab key does not come to ${name}: ${[...new Set(stops)].join(', ')}`)
  }
  async function tabToSelector(selector: string): Promise<void> {
    await until(`!!document.querySelector(${JSON.stringify(selector)})`, selector)
    for (let stop = 0; stop < stopsMax; stop++) {
      if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return
      await key('Tab')
    }
    throw new Error(`the Tab key does not come to ${selector}`)
  }

  const expected: { readonly pattern: RegExp | string; met: boolean }[] = []
  const isExpected = (complaint: string): boolean => {
    if (alwaysExpected.test(complaint) || (!scripts && notForScripts.test(complaint))) return true
    const one = expected.find(({ pattern }) => (typeof pattern === 'string' ? complaint.startsWith(pattern) : pattern.test(complaint)))
    if (one) one.met = true
    return one !== undefined
  }

  const settled = () => waitFor('a page at rest', async () => isQuiet(page) && (await page.evaluate(atRest)) === true)

  /** What brings a session into each page until one has taken it up. */
  let brought: unknown

  const visitor = {
    page,
    /** Waits until an expression is true in the page. */
    until,
    /** 360 or 1280 from now on. */
    width: resize,
    /** Light or dark from now on; `more` are media features, as `{ 'forced-colors': 'active' }`. Motion is reduced always. */
    scheme,
    /** Opens an address below /console: `orders/ord_…`. */
    go: (path = '') => page.open(`${origin}/console${path === '' ? '' : `/${path.replace(/^\/(console\/)?/, '')}`}`),
    reload,
    back: () => traverse(-1),
    forward: () => traverse(1),
    /** Path and query of the page now. */
    path: async () => String(await page.evaluate('location.pathname + location.search')),

    /** Waits for the screen by its first heading. */
    heading: (name: string | RegExp) =>
      waitFor(`the heading ${name}`, async () => {
        const h1 = await page.evaluate(`document.querySelector('main h1')?.innerText.replace(/\\s+/g, ' ').trim()`)
        return typeof h1 === 'string' && fits(name, h1)
      }),
    /** Waits for a text, as a person would see it. */
    text: (text: string) => until(`document.body.innerText.replace(/\\s+/g, ' ').includes(${JSON.stringify(text)})`, text),
    /** Waits until a text is seen no more. */
    gone: (text: string) => until(`!document.body.innerText.replace(/\\s+/g, ' ').includes(${JSON.stringify(text)})`, `no ${text}`),
    /** Whether a text is seen on a page at rest. */
    async has(text: string): Promise<boolean> {
      await settled()
      return (await page.evaluate(`document.body.innerText.includes(${JSON.stringify(text)})`)) === true
    },
    /** Waits for something by role and name: `there('Saved', { role: 'status' })`. */
    there: async (name: string | RegExp, where: Where = {}) =>
      void (await waitFor(said(name, where), async () => (await nodes(name, where, () => true)).length > 0)),
    /** The names of everything of a role on a page at rest, in the order of the page: `all('link', { within: 'Pages' })`. */
    async all(role: string, { within }: Where = {}): Promise<string[]> {
      await settled()
      return (await nodes(undefined, { role, ...(within === undefined ? {} : { within }) }, () => true)).map(({ name }) => name)
    },

    /** Presses with a pointer what is called so, once it is there and enabled, and nothing lies over it. */
    press,
    /** Types into a field in place of what is there; of a list, chooses by what it shows. Dates as `2026-11-23`. */
    async fill(label: string | RegExp, value: string, where: Where = {}): Promise<void> {
      const field = await fieldOf(label, where)
      const kind = await ask<string>(field, setting, value)
      if (kind === 'missing') throw new Error(`${label} has no ${value}`)
      if (kind === 'typed') await type(value)
    },
    /** What a field holds; of a box to tick, whether it is ticked. */
    value: async (label: string | RegExp, where: Where = {}) =>
      ask<string | boolean>(
        await fieldOf(label, where),
        'return this.type === "checkbox" || this.type === "radio" ? this.checked : (this.value ?? this.innerText)',
      ),
    /** Chooses files in a field for them. */
    async upload(label: string | RegExp, files: readonly string[], where: Where = {}): Promise<void> {
      const objectId = await waitFor(`a field for files that is called ${label}`, () => fieldOrInput(label, where))
      await command('DOM.setFileInputFiles', { objectId, files: [...files] })
    },

    /** One key, with what is held meanwhile: `Enter`, `Escape`, `Shift+Tab`, `Control+k`, `/`. */
    key,
    /** Types at whatever has the keyboard. */
    type,
    /** Waits until the keyboard is at something by its name: what a dialog lay over has one only a moment after it. */
    keyboardAt: (name: string | RegExp, { role }: { role?: string } = {}) =>
      waitFor(`the keyboard at ${said(name, role ? { role } : {})}`, async () => {
        const at = await focused()
        return fits(name, at.name) && (role === undefined || role === at.role)
      }),
    tabTo,
    /** By the keyboard alone: to something by Tab, and Enter. */
    async keyPress(name: string | RegExp, how: { role?: string; back?: boolean; key?: string } = {}): Promise<void> {
      await tabTo(name, how)
      await key(how.key ?? 'Enter')
    },
    /** By the keyboard alone: to a field by Tab, and types in place of what is there. */
    async keyFill(label: string | RegExp, value: string, how: { role?: string; back?: boolean } = {}): Promise<void> {
      await tabTo(label, how)
      await key('Control+a')
      await type(value)
    },

    /**
     * Brings a session along that was begun elsewhere, as a browser does in which somebody has logged in before; the next page that is opened is
     * theirs. It takes half of the time of `signIn`.
     */
    async bring({ email, password }: Login): Promise<void> {
      const userAgent = String(await page.evaluate('navigator.userAgent'))
      const headers = { origin, 'content-type': 'application/json', 'user-agent': userAgent }
      const answer = await fetch(`${origin}/console/session`, { method: 'POST', headers, body: JSON.stringify({ email, password }) })
      const [, name, value] = /^([^=]+)=([^;]+);/.exec(answer.headers.get('set-cookie') ?? '') ?? []
      if (!answer.ok || name === undefined) throw new Error(`${email} cannot log in: ${answer.status} ${await answer.text()}`)
      const { accessToken } = (await answer.json()) as { accessToken: string }
      const { sid } = JSON.parse(atob(accessToken.split('.')[1] ?? '')) as { sid: string }
      const path = '/console/session'
      await command('Network.setCookie', { name, value, url: origin + path, path, httpOnly: true, sameSite: 'Strict' })
      const source = `if (location.origin === '${origin}') localStorage.setItem('souk-console-session', '${sid}')`
      const { identifier } = await command('Page.addScriptToEvaluateOnNewDocument', { source })
      brought = identifier
    },
    /** Waits until somebody is in: the page that is theirs stands there. Whoever brought a session has it from then on as the page keeps it. */
    async isIn(): Promise<void> {
      await until(`!document.querySelector('input[autocomplete="current-password"]') && !!document.querySelector('main h1')`, 'somebody in')
      if (brought !== undefined) await command('Page.removeScriptToEvaluateOnNewDocument', { identifier: brought })
      brought = undefined
    },
    /** Logs in at the page by the keyboard, wherever that is, and waits until it is over. */
    async signIn({ email, password, code }: Login): Promise<void> {
      await tabToSelector('input[autocomplete="username"]')
      await type(email)
      await tabToSelector('input[autocomplete="current-password"]')
      await type(password)
      await key('Enter')
      if (code !== undefined) {
        await tabToSelector('input[autocomplete="one-time-code"]')
        await type(typeof code === 'string' ? code : code())
        await key('Enter')
      }
      await visitor.isIn()
    },

    /** What axe finds wrong on the page as it stands, and what cannot be read for want of room: to be nothing. */
    axe: breaches,
    /** The latter alone. */
    cut,
    /** Waits until nothing is under way over the network, but for events, and nothing on the page loads. */
    settled,
    /** What is seen now, as a picture. @param whole the page beyond the fold too */
    async picture({ whole = false, format = 'png' as 'png' | 'webp' } = {}): Promise<Uint8Array> {
      const { data } = await command('Page.captureScreenshot', { format, captureBeyondViewport: whole })
      return Uint8Array.fromBase64(String(data))
    },
    /** The network away, and back. Requests fail then: say by `expects` which. */
    offline: (isAway: boolean) =>
      command('Network.emulateNetworkConditions', { offline: isAway, latency: 0, downloadThroughput: -1, uploadThroughput: -1 }),
    /** Where files are kept that the page hands out. */
    downloadsTo: (folder: string) => command('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder }),
    /**
     * Says what is no mishap, before it happens: `expects('PATCH /product-v2/prod_1 412')`, the beginning of a complaint or a pattern of it.
     * What is expected and never comes is a complaint itself.
     */
    expects: (...patterns: readonly (RegExp | string)[]) => void expected.push(...patterns.map((pattern) => ({ pattern, met: false }))),
    /** The session ends, or its token does: the stream of events may hear of that before anything else, or not. */
    sessionEnds: () => void expected.push({ pattern: /^GET \/(v2|admin)\/events 401/, met: true }),
    /** Everything that went wrong, in words: policies broken, errors, failed requests, other origins asked. To be nothing. */
    complaints(): string[] {
      const all = complaintsOf(page, origin).filter((complaint) => !isExpected(complaint))
      return [...all, ...expected.filter(({ met }) => !met).map(({ pattern }) => `expected, and never came: ${pattern}`)]
    },
    /** Methods, paths and statuses of what was asked for, in order: `GET /v2/orders 200`. */
    requests: () => requestsOf(page, origin),
    [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
  }
  return visitor

  async function fieldOrInput(label: string | RegExp, where: Where): Promise<string | undefined> {
    const [node] = await nodes(label, where, () => true)
    if (!node) return undefined
    const object = await resolved(node)
    const { result } = (await command('Runtime.callFunctionOn', {
      objectId: object,
      functionDeclaration:
        'function () { return this.matches?.("input[type=file]") ? this : (this.control ?? this.querySelector?.("input[type=file]") ?? document.querySelector("input[type=file]")) }',
    })) as { result: { objectId: string } }
    return result.objectId
  }
}

type Told = {
  readonly ignored?: boolean
  readonly backendDOMNodeId?: number
  readonly role?: { readonly value: string }
  readonly name?: { readonly value: string }
}
const nodeOf = ({ backendDOMNodeId = 0, role, name }: Told): Node => ({
  backendDOMNodeId,
  role: role?.value ?? '',
  name: (name?.value ?? '').replace(/\s+/g, ' ').trim(),
})

/** In the page: where to press an element, and by what that is prevented. */
const measured = `
  const element = this.nodeType === 1 ? this : this.parentElement
  if (element.disabled || element.ariaDisabled === 'true') return { x: 0, y: 0, by: 'it is disabled' }
  element.scrollIntoView({ block: 'center', behavior: 'instant' })
  // What goes over two lines is pressed on its first.
  const [box] = element.getClientRects()
  if (!box) return undefined
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const hit = document.elementFromPoint(x, y)
  const isHit = hit && (element.contains(hit) || [...(element.labels ?? [])].some((label) => label.contains(hit)) || (hit.localName === 'label' && hit.contains(element)))
  return { x, y, by: isHit ? '' : 'it is covered by ' + (hit ? hit.outerHTML.slice(0, 200) : 'nothing: it is out of sight') }`

/** In the page: makes a field ready to be typed into, or sets what nobody types. */
const setting = `
  const [value] = given
  const tell = () => { this.dispatchEvent(new Event('input', { bubbles: true })); this.dispatchEvent(new Event('change', { bubbles: true })) }
  this.focus()
  if (this.localName === 'select') {
    const option = [...this.options].find(({ label }) => label.trim() === value)
    if (!option) return 'missing'
    this.value = option.value
    tell()
    return 'chosen'
  }
  if (/^(date|time|datetime-local|month|week|color|range)$/.test(this.type)) {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(this, value)
    tell()
    return 'set'
  }
  if (this.select) this.select()
  else getSelection().selectAllChildren(this)
  return 'typed'`

/** In the page: whether it has begun, and nothing says that it is loading. */
const atRest = `document.readyState === 'complete' && document.fonts.status === 'loaded' && !document.querySelector('[aria-busy="true"], .splash, .skeleton, #root:empty')`

/** In the page, before its scripts: a clock on the wall that is off. */
const clockOff = (ms: number) => `(() => {
  const Right = Date
  const now = () => Right.now() + ${ms}
  globalThis.Date = class extends Right {
    constructor(...given) { given.length === 0 ? super(now()) : super(...given) }
    static now() { return now() }
  }
})()`

/** @param isBeside another tab's process has its language already */
async function speak(page: Page, language: string, isBeside: boolean): Promise<void> {
  const userAgent = String(await page.evaluate('navigator.userAgent'))
  await page.command('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: language })
  if (!isBeside) await page.command('Emulation.setLocaleOverride', { locale: language })
}

/** `loader`: the page that asked. */
type Asked = { readonly what: string; readonly url: string; readonly loader: unknown; status?: number; failed?: string; left?: true }

/** What was asked for over the network, and what became of it. */
function askedOf({ events }: Page): Asked[] {
  const asked = new Map<string, Asked>()
  const all: Asked[] = []
  for (const { method, params } of events) {
    const id = String(params['requestId'])
    if (method === 'Network.requestWillBeSent') {
      const { url, method: verb } = params['request'] as { url: string; method: string }
      const one = { what: `${verb} `, url, loader: params['loaderId'] }
      asked.set(id, one)
      all.push(one)
    }
    const known = asked.get(id)
    if (!known) continue
    if (method === 'Network.responseReceived') known.status = (params['response'] as { status: number }).status
    // What somebody leaves behind by going to another page is no mishap.
    if (method !== 'Network.loadingFailed') continue
    if (params['canceled'] === true) known.left = true
    else known.failed = String(params['blockedReason'] ?? params['errorText'])
  }
  return all.filter(({ url }) => !/^(data|about|blob):/.test(url))
}

const requestsOf = (page: Page, origin: string): string[] =>
  askedOf(page).map(
    ({ what, url, status, failed, left }) => `${what}${url.replace(origin, '')} ${failed ?? status ?? (left ? 'left' : 'under way')}`,
  )

/** Whether the page that is there waits for no answer, but for events. */
function isQuiet(page: Page): boolean {
  const navigated = page.events.findLast(({ method }) => method === 'Page.frameNavigated')
  const loader = (navigated?.params['frame'] as { loaderId?: string } | undefined)?.loaderId
  return !askedOf(page).some(
    (one) => one.loader === loader && one.status === undefined && !one.failed && !one.left && !/\/events(\?|$)/.test(one.url),
  )
}

/** What the browser said of its own accord. */
function inWords({ method, params }: BrowserEvent): string {
  if (method === 'Runtime.exceptionThrown') {
    const { text, exception } = params['exceptionDetails'] as { text: string; exception?: { description?: string } }
    return `exception: ${exception?.description ?? text}`
  }
  if (method === 'Runtime.consoleAPICalled') {
    const said = (params['args'] as { value?: unknown; description?: string }[]).map(({ value, description }) => value ?? description)
    return `console ${params['type']}: ${said.join(' ')}`
  }
  if (method === 'Page.javascriptDialogOpening') return `a question of the browser: ${params['type']} ${params['message']}`
  const { source, level, text, url } = params['entry'] as { source: string; level: string; text: string; url?: string }
  return `${source} ${level}: ${text}${url ? ` (${url})` : ''}`
}

function complaintsOf(page: Page, origin: string): string[] {
  const others = requestedUrls(page.events).filter((url) => new URL(url).origin !== origin)
  const failures = askedOf(page)
    .filter(({ status = 0, failed }) => failed !== undefined || status >= 400)
    .map(({ what, url, status, failed }) => `${what}${url.replace(origin, '')} ${failed ?? status}`)
  const said = page.events
    .filter(isComplaint)
    // Statuses and failures, which stand above with their methods.
    .filter(({ params }) => (params['entry'] as { source?: string } | undefined)?.source !== 'network')
    .map(inWords)
  return [...others.map((url) => `another origin was asked: ${url}`), ...failures, ...said]
}
