/**
 * `bun run console:pictures [PART …] [--language=en|ar|mn] [--out=FOLDER]` takes pictures of all screens in the
 * demo's shops, at desktop and phone width, in light and dark, into dist/console-pictures.
 * `--readme` writes the pictures of README.md instead. PART limits the screens by a part of their path, such as `orders`.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from './chromium.ts'
import { openDemoConsole } from './console-instance.ts'
import { addressOf, type ListedScreen, listedScreens } from './console-screens.ts'
import { consoleVisitor, type VisitorOptions } from './console-visitor.ts'
import { cleanUp } from './database.ts'
import { closeBrowser } from './visit.ts'

const root = join(import.meta.dir, '../..')
/**
 * The pictures of README.md by file in docs/images, with a size limit. `search` finds the record that shows most,
 * and `from` is the element that the picture begins with.
 */
const readmePictures: Readonly<Record<string, { path: string; search?: string; from?: string }>> = {
  home: { path: '/s/:shop', from: 'main .grid' },
  product: { path: '/s/:shop/products/:id', search: 'q=mug&status=ACTIVE' },
  order: { path: '/s/:shop/orders/:id' },
}
const readmeSize = { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false }
const readmeBytesMax = 120_000

const { values, positionals: parts } = parseArgs({
  args: Bun.argv.slice(2),
  allowPositionals: true,
  options: {
    language: { type: 'string', default: 'en' },
    out: { type: 'string', default: join(root, 'dist/console-pictures') },
    readme: { type: 'boolean', default: false },
  },
})
if (!chromium) throw new Error('pictures are taken by Chromium, which is not on this machine')

const looks = [
  ['desk', 'light'],
  ['desk', 'dark'],
  ['phone', 'dark'],
  ['phone', 'light'],
] as const

const console = await openDemoConsole()
const { app, url, merchant, operator, shopName } = console

/** Signs in and returns a reader of lists. */
async function enter(as: { email: string; password: string }) {
  const visitor = await consoleVisitor(url, { language: values.language as NonNullable<VisitorOptions['language']> })
  await visitor.page.command('Emulation.setScrollbarsHidden', { hidden: true })
  await visitor.go()
  await visitor.signIn(as)
  const { body } = await app.call('POST', '/merchant/login', { body: { email: as.email, password: as.password } })
  return { visitor, ask: async (path: string) => (await app.call('GET', path, { token: body.data.accessToken })).body }
}

const nameOf = ({ path }: ListedScreen) =>
  path
    .replace(/^\/(s\/:shop)?/, '')
    .replaceAll(/[^a-z]+/gi, '-')
    .replace(/^-/, '') || 'home'

async function takeAll(): Promise<void> {
  const wanted = (await listedScreens()).filter(({ path }) => parts.length === 0 || parts.some((part) => path.includes(part)))
  for (const [area, screens] of Map.groupBy(wanted, ({ area }) => (area === 'net' ? 'net' : 'shop'))) {
    const { visitor, ask } = await enter(area === 'net' ? operator : merchant)
    for (const screen of screens) {
      await visitor.go(await addressOf(screen, shopName, ask))
      await visitor.heading(/./)
      for (const [width, scheme] of looks) {
        await visitor.width(width)
        await visitor.scheme(scheme)
        await visitor.settled()
        const file = join(values.out, `${width}-${scheme}`, `${area}-${nameOf(screen)}.png`)
        await Bun.write(file, await visitor.picture({ whole: true }))
      }
      process.stderr.write(`${screen.path}\n`)
    }
    for (const complaint of visitor.complaints()) process.stderr.write(`  ${complaint}\n`)
    await visitor[Symbol.asyncDispose]()
  }
  process.stdout.write(`${values.out}\n`)
}

async function takeReadmePictures(): Promise<void> {
  const { visitor, ask } = await enter(merchant)
  await visitor.page.command('Emulation.setDeviceMetricsOverride', readmeSize)
  const screens = await listedScreens()
  for (const [name, { path, search = '', from }] of Object.entries(readmePictures)) {
    const screen = screens.find((one) => one.path === path)
    if (!screen) throw new Error(`${path} is not a screen`)
    await visitor.go(await addressOf(screen, shopName, (list) => ask(`${list}${search === '' ? '' : `?${search}`}`)))
    await visitor.heading(/./)
    await visitor.settled()
    if (from) await visitor.page.evaluate(`scrollTo(0, document.querySelector(${JSON.stringify(from)}).getBoundingClientRect().top - 110)`)
    const picture = await visitor.picture({ format: 'webp' })
    const file = `docs/images/${name}.webp`
    if (picture.length > readmeBytesMax) throw new Error(`${file} has ${picture.length} bytes, at most ${readmeBytesMax}: show less`)
    await Bun.write(join(root, file), picture)
    process.stdout.write(`${file}: ${picture.length} bytes\n`)
  }
}

try {
  mkdirSync(values.out, { recursive: true })
  await (values.readme ? takeReadmePictures() : takeAll())
} finally {
  await closeBrowser()
  await console[Symbol.asyncDispose]()
  await cleanUp()
}
