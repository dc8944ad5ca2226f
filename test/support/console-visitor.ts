/** A visitor of the console: finds elements by role and name like a screen reader, and uses keyboard or pointer. */
import type { BrowserEvent, Page } from './chromium.ts'
import { isBrowserError, openVisit, pollUntilFound, requestedUrls, type Width } from './visit.ts'

export type Scheme = 'light' | 'dark'
export type VisitorOptions = {
  /** 360 or 1280 pixels; `desk` by default. */
  readonly width?: Width
  readonly scheme?: Scheme
  /** Language of the browser; `en` by default. */
  readonly language?: 'en' | 'ar' | 'mn'
  readonly timeZone?: string
  /** Error of the browser's clock in milliseconds. */
  readonly clockOffMs?: number
  /** False disables scripts. */
  readonly scripts?: boolean
  /** False blocks cookies and storage, which needs `chromiumOfDesk`. */
  readonly cookies?: boolean
  /** Opens another tab of this visitor's browser. */
  readonly beside?: ConsoleVisitor
}
export type Login = { readonly email: string; readonly password: string; readonly code?: string | (() => string) }
/**
 * `role` distinguishes equal names. `within`: name of a dialog, region, form or group, or text of a row or list item.
 */
export type Where = { readonly role?: string; readonly within?: string | RegExp }

type Node = { readonly backendDOMNodeId: number; readonly role: string; readonly name: string }

const pressable =
  /^(button|link|tab|checkbox|radio|switch|option|menuitem|menuitemcheckbox|menuitemradio|treeitem|DisclosureTriangle|LabelText|columnheader|combobox|gridcell|listitem)$/
const places =
  /^(dialog|alertdialog|region|form|group|radiogroup|navigation|main|complementary|banner|article|table|list|tabpanel|search|status)$/
const rows = /^(row|listitem|article)$/

const namedKeys: Readonly<Record<string, { code: number; text?: string }>> = {
  ...{ Tab: { code: 9 }, Enter: { code: 13, text: '\r' }, Escape: { code: 27 }, Space: { code: 32, text: ' ' }, Backspace: { code: 8 } },
  ...{ ArrowLeft: { code: 37 }, ArrowUp: { code: 38 }, ArrowRight: { code: 39 }, ArrowDown: { code: 40 }, Delete: { code: 46 } },
  ...{ Home: { code: 36 }, End: { code: 35 }, PageUp: { code: 33 }, PageDown: { code: 34 } },
}
const modifierBits: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 }

/** More Tab presses than any screen needs. */
const stopsMax = 400

/** Attempts of a query, which takes longer than an expression in the page. */
const asksMax = 1_000

/** The first session request of a signed-out page. */
const alwaysExpected = /^POST \/console\/session 401$/
/** A browser without scripts reports these files as CSP violations. */
const notForScripts = /^GET \/console\/assets\/[^ ]+\.js csp$/

export type ConsoleVisitor = Awaited<ReturnType<typeof consoleVisitor>>

/** @param origin the console's origin; requests to others are complaints */
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
  await setLanguage(page, language, beside !== undefined)
  if (timeZone) await command('Emulation.setTimezoneOverride', { timezoneId: timeZone })
  if (!scripts) await command('Emulation.setScriptExecutionDisabled', { value: true })
  if (clockOffMs !== undefined) await command('Page.addScriptToEvaluateOnNewDocument', { source: clockScript(clockOffMs) })
  const scheme = (value: Scheme, more: Readonly<Record<string, string>> = {}) => {
    const wanted = { 'prefers-color-scheme': value, 'prefers-reduced-motion': 'reduce', ...more }
    return command('Emulation.setEmulatedMedia', { features: Object.entries(wanted).map(([name, one]) => ({ name, value: one })) })
  }
  await scheme(firstScheme)

  /** Calls a function with an element. */
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
  async function objectIdOf({ backendDOMNodeId }: Node): Promise<string> {
    const { object } = (await command('DOM.resolveNode', { backendNodeId: backendDOMNodeId })) as { object: { objectId: string } }
    return object.objectId
  }

  /** Finds visible nodes of the accessibility tree below an element. */
  async function nodesIn(objectId: string, name: string | RegExp | undefined, role?: string): Promise<Node[]> {
    const wanted = { ...(typeof name === 'string' ? { accessibleName: name } : {}), ...(role ? { role } : {}) }
    const { nodes } = (await command('Accessibility.queryAXTree', { objectId, ...wanted })) as { nodes: AccessibilityNode[] }
    const found = nodes.filter(({ ignored, backendDOMNodeId }) => !ignored && backendDOMNodeId !== undefined).map(nodeOf)
    return name instanceof RegExp ? found.filter((node) => name.test(node.name)) : found
  }
  async function textOf(node: Node): Promise<string> {
    return ask<string>(await objectIdOf(node), 'return this.innerText ?? this.textContent').catch(() => '')
  }
  async function rootOf(within: string | RegExp | undefined): Promise<string | undefined> {
    const whole = await objectOf('document')
    if (within === undefined) return whole
    const named = (await nodesIn(whole, within)).find(({ role }) => places.test(role) || rows.test(role))
    if (named) return objectIdOf(named)
    for (const node of await nodesIn(whole, /(?:)/)) {
      if (!rows.test(node.role)) continue
      const said = (await textOf(node)).replace(/\s+/g, ' ')
      if (typeof within === 'string' ? said.includes(within) : within.test(said)) return objectIdOf(node)
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
    // The node or page can be replaced during the query.
    const found = await pollUntilFound(
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
        const at = await ask<{ x: number; y: number; by: string } | undefined>(await objectIdOf(node), clickPointScript)
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
        const object = await objectIdOf(node)
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

  /** Returns the focused element of the accessibility tree. */
  async function focused(): Promise<{ role: string; name: string }> {
    const objectId = await objectOf('document.activeElement ?? document.body')
    const { nodes: found } = (await command('Accessibility.getPartialAXTree', { objectId, fetchRelatives: false })) as {
      nodes: AccessibilityNode[]
    }
    const [first] = found
    return first ? { role: nodeOf(first).role, name: nodeOf(first).name } : { role: '', name: '' }
  }
  const matches = (name: string | RegExp, told: string) => (typeof name === 'string' ? told === name : name.test(told))

  /** Presses Tab until an element has the focus. */
  async function tabTo(name: string | RegExp, { role, back = false }: { role?: string; back?: boolean } = {}): Promise<void> {
    await waitFor(said(name, role ? { role } : {}), async () => (await nodes(name, role ? { role } : {}, () => true)).length > 0)
    const stops: string[] = []
    for (let stop = 0; stop < stopsMax; stop++) {
      const at = await focused()
      if (matches(name, at.name) && (role === undefined || role === at.role)) return
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

  const settled = () => waitFor('a page at rest', async () => isQuiet(page) && (await page.evaluate(isIdleScript)) === true)

  /** Script that gives the next page its session. */
  let sessionScript: unknown

  const visitor = {
    page,
    /** Waits until an expression is true in the page. */
    until,
    /** Sets the width. */
    width: resize,
    /**
     * Sets the colour scheme; `more` are media features such as `{ 'forced-colors': 'active' }`. Motion is always
     * reduced.
     */
    scheme,
    /** Opens a path below /console. */
    go: (path = '') => page.open(`${origin}/console${path === '' ? '' : `/${path.replace(/^\/(console\/)?/, '')}`}`),
    reload,
    back: () => traverse(-1),
    forward: () => traverse(1),
    /** Returns path and query of the page. */
    path: async () => String(await page.evaluate('location.pathname + location.search')),

    /** Waits for the screen by its heading. */
    heading: (name: string | RegExp) =>
      waitFor(`the heading ${name}`, async () => {
        const h1 = await page.evaluate(`document.querySelector('main h1')?.innerText.replace(/\\s+/g, ' ').trim()`)
        return typeof h1 === 'string' && matches(name, h1)
      }),
    /** Waits for visible text. */
    text: (text: string) => until(`document.body.innerText.replace(/\\s+/g, ' ').includes(${JSON.stringify(text)})`, text),
    /** Waits for a notice, such as `Saved`, which other places of a page may show, too. */
    notice: (text: string) => until(`document.querySelector('.toasts')?.innerText.includes(${JSON.stringify(text)})`, `notice ${text}`),
    /** Waits until a text disappears. */
    gone: (text: string) => until(`!document.body.innerText.replace(/\\s+/g, ' ').includes(${JSON.stringify(text)})`, `no ${text}`),
    /** Returns whether a text is visible, after the page is idle. */
    async has(text: string): Promise<boolean> {
      await settled()
      return (await page.evaluate(`document.body.innerText.includes(${JSON.stringify(text)})`)) === true
    },
    /** Waits for an element by role and name: `there('Saved', { role: 'status' })`. */
    there: async (name: string | RegExp, where: Where = {}) =>
      void (await waitFor(said(name, where), async () => (await nodes(name, where, () => true)).length > 0)),
    /** Returns the names of all elements of a role, in page order, after the page is idle. */
    async all(role: string, { within }: Where = {}): Promise<string[]> {
      await settled()
      return (await nodes(undefined, { role, ...(within === undefined ? {} : { within }) }, () => true)).map(({ name }) => name)
    },

    /** Clicks an element when it is enabled and not covered. */
    press,
    /** Fills a field or selects an option by its text. Dates are `2026-11-23`. */
    async fill(label: string | RegExp, value: string, where: Where = {}): Promise<void> {
      const field = await fieldOf(label, where)
      const kind = await ask<string>(field, fillScript, value)
      if (kind === 'missing') throw new Error(`${label} has no ${value}`)
      if (kind === 'typed') await type(value)
    },
    /** Returns the value of a field, or whether a checkbox is checked. */
    value: async (label: string | RegExp, where: Where = {}) =>
      ask<string | boolean>(
        await fieldOf(label, where),
        'return this.type === "checkbox" || this.type === "radio" ? this.checked : (this.value ?? this.innerText)',
      ),
    /** Selects files in a file field. */
    async upload(label: string | RegExp, files: readonly string[], where: Where = {}): Promise<void> {
      const objectId = await waitFor(`a field for files that is called ${label}`, () => fieldOrInput(label, where))
      await command('DOM.setFileInputFiles', { objectId, files: [...files] })
    },

    /** Presses a key with modifiers: `Enter`, `Shift+Tab`, `Control+k`. */
    key,
    /** Types at the focused element. */
    type,
    /** Waits until an element has the focus. */
    keyboardAt: (name: string | RegExp, { role }: { role?: string } = {}) =>
      waitFor(`the keyboard at ${said(name, role ? { role } : {})}`, async () => {
        const at = await focused()
        return matches(name, at.name) && (role === undefined || role === at.role)
      }),
    tabTo,
    /** Reaches an element by Tab and presses Enter. */
    async keyPress(name: string | RegExp, how: { role?: string; back?: boolean; key?: string } = {}): Promise<void> {
      await tabTo(name, how)
      await key(how.key ?? 'Enter')
    },
    /** Reaches a field by Tab and replaces its text. */
    async keyFill(label: string | RegExp, value: string, how: { role?: string; back?: boolean } = {}): Promise<void> {
      await tabTo(label, how)
      await key('Control+a')
      await type(value)
    },

    /** Gives the next page a session that began elsewhere; takes half the time of `signIn`. */
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
      sessionScript = identifier
    },
    /** Waits until the visitor is signed in. */
    async isIn(): Promise<void> {
      await until(
        `!document.querySelector('input[autocomplete="current-password"]') && !!document.querySelector('main h1')`,
        'a signed-in visitor',
      )
      if (sessionScript !== undefined) await command('Page.removeScriptToEvaluateOnNewDocument', { identifier: sessionScript })
      sessionScript = undefined
    },
    /** Signs in by the form with the keyboard. */
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

    /** Returns axe's findings and cut content; should be empty. */
    axe: breaches,
    /** Returns cut content only. */
    cut,
    /** Waits until requests (except events) and loading states end. */
    settled,
    /** Prints the page and returns the number of its sheets. */
    async printedSheets(): Promise<number> {
      const { data } = (await command('Page.printToPDF')) as { data: string }
      return Number(/\/Count (\d+)/.exec(Buffer.from(data, 'base64').toString('latin1'))?.[1])
    },
    /**
     * Takes a picture.
     * @param whole includes the page below the fold
     */
    async picture({ whole = false, format = 'png' as 'png' | 'webp' } = {}): Promise<Uint8Array> {
      const { data } = await command('Page.captureScreenshot', { format, captureBeyondViewport: whole })
      return Uint8Array.fromBase64(String(data))
    },
    /** Switches the network off or on. Announce the failing requests by `expects`. */
    offline: (isAway: boolean) =>
      command('Network.emulateNetworkConditions', { offline: isAway, latency: 0, downloadThroughput: -1, uploadThroughput: -1 }),
    /** Sets the download folder. */
    downloadsTo: (folder: string) => command('Page.setDownloadBehavior', { behavior: 'allow', downloadPath: folder }),
    /**
     * Announces a complaint by its start or a pattern: `expects('PATCH /product-v2/prod_1 412')`.
     * An announced complaint that does not occur is a complaint itself.
     */
    expects: (...patterns: readonly (RegExp | string)[]) => void expected.push(...patterns.map((pattern) => ({ pattern, met: false }))),
    /** Allows the stream's 401 after the session ended. */
    sessionEnds: () => void expected.push({ pattern: /^GET \/(v2|admin)\/events 401/, met: true }),
    /** Returns everything that went wrong: CSP violations, errors, failed requests, foreign origins. */
    complaints(): string[] {
      const all = complaintsOf(page, origin).filter((complaint) => !isExpected(complaint))
      return [...all, ...expected.filter(({ met }) => !met).map(({ pattern }) => `expected, and never came: ${pattern}`)]
    },
    /** Returns the requests in order: `GET /v2/orders 200`. */
    requests: () => requestsOf(page, origin),
    [Symbol.asyncDispose]: () => page[Symbol.asyncDispose](),
  }
  return visitor

  async function fieldOrInput(label: string | RegExp, where: Where): Promise<string | undefined> {
    const [node] = await nodes(label, where, () => true)
    if (!node) return undefined
    const object = await objectIdOf(node)
    const { result } = (await command('Runtime.callFunctionOn', {
      objectId: object,
      functionDeclaration:
        'function () { return this.matches?.("input[type=file]") ? this : (this.control ?? this.querySelector?.("input[type=file]") ?? document.querySelector("input[type=file]")) }',
    })) as { result: { objectId: string } }
    return result.objectId
  }
}

type AccessibilityNode = {
  readonly ignored?: boolean
  readonly backendDOMNodeId?: number
  readonly role?: { readonly value: string }
  readonly name?: { readonly value: string }
}
const nodeOf = ({ backendDOMNodeId = 0, role, name }: AccessibilityNode): Node => ({
  backendDOMNodeId,
  role: role?.value ?? '',
  name: (name?.value ?? '').replace(/\s+/g, ' ').trim(),
})

/** In the page: returns the click position of an element, or why it cannot be clicked. */
const clickPointScript = `
  const element = this.nodeType === 1 ? this : this.parentElement
  if (element.disabled || element.ariaDisabled === 'true') return { x: 0, y: 0, by: 'it is disabled' }
  element.scrollIntoView({ block: 'center', behavior: 'instant' })
  // An element over two lines is clicked on its first.
  const [box] = element.getClientRects()
  if (!box) return undefined
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const hit = document.elementFromPoint(x, y)
  const isHit = hit && (element.contains(hit) || [...(element.labels ?? [])].some((label) => label.contains(hit)) || (hit.localName === 'label' && hit.contains(element)))
  return { x, y, by: isHit ? '' : 'it is covered by ' + (hit ? hit.outerHTML.slice(0, 200) : 'nothing: it is out of sight') }`

/** In the page: focuses a field for typing, or sets a value that cannot be typed. */
const fillScript = `
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

/** In the page: whether it has started and shows no loading state. */
const isIdleScript = `document.readyState === 'complete' && document.fonts.status === 'loaded' && !document.querySelector('[aria-busy="true"], .splash, .skeleton, #root:empty')`

/** In the page, before its scripts: shifts the clock. */
const clockScript = (ms: number) => `(() => {
  const Right = Date
  const now = () => Right.now() + ${ms}
  globalThis.Date = class extends Right {
    constructor(...given) { given.length === 0 ? super(now()) : super(...given) }
    static now() { return now() }
  }
})()`

/** Sets the language. @param isBeside another tab, whose process already has the language */
async function setLanguage(page: Page, language: string, isBeside: boolean): Promise<void> {
  const userAgent = String(await page.evaluate('navigator.userAgent'))
  await page.command('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: language })
  if (!isBeside) await page.command('Emulation.setLocaleOverride', { locale: language })
}

/** A request and its outcome. `loader` is the page that sent it. */
type PageRequest = { readonly what: string; readonly url: string; readonly loader: unknown; status?: number; failed?: string; left?: true }

/** Returns the requests with their outcomes. */
function pageRequestsOf({ events }: Page): PageRequest[] {
  const asked = new Map<string, PageRequest>()
  const all: PageRequest[] = []
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
    // Requests that a navigation cancels are no failures.
    if (method !== 'Network.loadingFailed') continue
    if (params['canceled'] === true) known.left = true
    else known.failed = String(params['blockedReason'] ?? params['errorText'])
  }
  return all.filter(({ url }) => !/^(data|about|blob):/.test(url))
}

const requestsOf = (page: Page, origin: string): string[] =>
  pageRequestsOf(page).map(
    ({ what, url, status, failed, left }) => `${what}${url.replace(origin, '')} ${failed ?? status ?? (left ? 'left' : 'under way')}`,
  )

/** Returns whether the page has no open request except events. */
function isQuiet(page: Page): boolean {
  const navigated = page.events.findLast(({ method }) => method === 'Page.frameNavigated')
  const loader = (navigated?.params['frame'] as { loaderId?: string } | undefined)?.loaderId
  return !pageRequestsOf(page).some(
    (one) => one.loader === loader && one.status === undefined && !one.failed && !one.left && !/\/events(\?|$)/.test(one.url),
  )
}

/** Describes a message of the browser. */
function describeEvent({ method, params }: BrowserEvent): string {
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
  const failures = pageRequestsOf(page)
    .filter(({ status = 0, failed }) => failed !== undefined || status >= 400)
    .map(({ what, url, status, failed }) => `${what}${url.replace(origin, '')} ${failed ?? status}`)
  const said = page.events
    .filter(isBrowserError)
    // Network errors, which are listed with their methods above.
    .filter(({ params }) => (params['entry'] as { source?: string } | undefined)?.source !== 'network')
    .map(describeEvent)
  return [...others.map((url) => `another origin was asked: ${url}`), ...failures, ...said]
}
