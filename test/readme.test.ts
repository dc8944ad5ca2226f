/** Checks the documentation against the program: settings, commands, scripts, links and metrics. */
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import packageJson from '../package.json'
import { commands } from '../src/cli/commands.ts'
import { settingsMarkdown } from '../src/cli/settings-table.ts'
import { testApp } from './support/app.ts'

const root = join(import.meta.dir, '..')
const pages = [
  'README.md',
  ...['agents', 'api', 'architecture', 'contributing', 'lending', 'operations', 'storefront/README', 'trust', 'tutorial'].map(
    (page) => `docs/${page}.md`,
  ),
]
const read = (page: string) => readFileSync(join(root, page), 'utf8')
const readme = read('README.md')
/** Returns the first matching group of each match. */
const matchesOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, ...groups]) => groups.find(Boolean) ?? '')

describe('the README', () => {
  test('docs/settings.md has the settings of src/config.ts (if not: bun run docs:settings)', () => {
    const page = read('docs/settings.md')
    expect(page.slice(page.indexOf('| Setting'))).toBe(settingsMarkdown())
  })

  test('the README has at most 12,000 bytes, and three pictures of at most 120,000 bytes each', () => {
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(12_000)
    const pictures = matchesOf(readme, /!\[[^\]]+\]\(([^)]+)\)/g)
    expect(pictures.length).toBe(3)
    expect(pictures.filter((path) => statSync(join(root, path)).size > 120_000)).toEqual([])
  })

  test('docs/operations.md has at most 85,000 bytes', () => {
    expect(Buffer.byteLength(read('docs/operations.md'))).toBeLessThanOrEqual(85_000)
  })

  test.each(Object.keys(commands))('the README has the command %s in its table', (name) => {
    expect(readme).toMatch(new RegExp(`^\\| \`souk ${RegExp.escape(name)}[ \`]`, 'm'))
  })
})

describe.each(pages)('%s', (page) => {
  const text = read(page)

  test('a page names only existing commands and scripts', () => {
    // Only in code, because a line of prose may start with the program's name.
    const code = matchesOf(text, /```sh\n(.*?)```|(`[^`\n]+`)/gs).join('\n')
    const called = matchesOf(code, /(?:^`?|run |docker exec (?:-it )?souk |-u souk |bin\/)souk ([a-z][a-z-]*)/gm)
    expect(called.filter((name) => !Object.hasOwn(commands, name))).toEqual([])
    const scripts = matchesOf(text, /bun(?:@[\d.]+)? run ([a-z][a-z:]*)/g)
    expect(scripts.filter((name) => !Object.hasOwn(packageJson.scripts, name))).toEqual([])
    expect(called.length + scripts.length).toBeGreaterThan(0)
  })

  test('a page links to existing files and headings', () => {
    const links = matchesOf(text, /\]\(([^)]+)\)/g).filter((link) => !/^https?:/.test(link))
    expect(links.length).toBeGreaterThan(0)
    expect(links.filter((link) => !linkExists(page, link))).toEqual([])
  })
})

function linkExists(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return (
    heading === undefined ||
    matchesOf(read(target), /^#+ (.+)$/gm)
      .map(anchorOf)
      .includes(heading)
  )
}

/** Returns the anchor that GitHub generates for a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')

test('docs/operations.md lists exactly the metrics of an instance', async () => {
  await using app = await testApp({}, { diskFree: () => 1_000_000_000 })
  const { text } = await app.call('GET', '/metrics')
  const listed = matchesOf(read('docs/operations.md'), /^\| `((?:souk|process)_[a-z_]+)` \|/gm)
  expect(listed.sort()).toEqual(matchesOf(text, /^# TYPE (\S+)/gm).sort())
})
