import { expect, setDefaultTimeout, test } from 'bun:test'
import packageFile from '../../package.json'
import { apiDocument } from '../../src/cli/openapi.ts'
import { souk } from '../cli/souk.ts'
import { testApp } from '../support/app.ts'
import { temporaryDir } from '../support/database.ts'
import { longTestMs } from '../support/timeouts.ts'

setDefaultTimeout(longTestMs)

test('program, pages, OpenAPI document, console and health show the version of package.json', async () => {
  const { version } = packageFile
  await using app = await testApp()
  const bodyOf = async (path: string) => (await app.call('GET', path)).body
  expect((await bodyOf('/docs/json')).info['x-souk-version']).toBe(version)
  expect(await bodyOf('/console')).toContain(`<meta name="souk:version" content="${version}">`)
  expect((await bodyOf('/health/live')).version).toBe(version)
  expect((await bodyOf('/health/ready')).version).toBe(version)
  expect(await bodyOf('/')).toContain(version)
  expect(await bodyOf('/metrics')).toContain(`souk_build_info{version="${version}"} 1`)
  expect(apiDocument()['info']).toMatchObject({ version: '2.0.1', 'x-souk-version': version })
  for (const args of [['--version'], ['version']]) expect((await souk(args, temporaryDir())).stdout).toBe(`souk ${version}\n`)
})
