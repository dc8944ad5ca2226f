/**
 * Runs souk on a seeded directory, like `souk serve`. The second argument is SQLite's `synchronous`: `OFF` shows the
 * cost of durability. The third overrides settings as JSON.
 */
import { startJobs } from '../jobs/index.ts'
import { parseConfig } from '../src/config.ts'
import { openInstance } from '../src/instance.ts'
import { listen } from '../src/server.ts'
import { benchSettings } from './seed.ts'

const [dataDir = '', synchronous = 'FULL', settings = '{}'] = Bun.argv.slice(2)
const instance = await openInstance({
  config: parseConfig({ ...benchSettings(dataDir), PORT: '0', ...JSON.parse(settings) }),
  as: 'server',
  sqlite: { synchronous: synchronous === 'OFF' ? 'OFF' : 'FULL' },
})
startJobs(instance.deps)
const { url } = listen(instance, { host: '127.0.0.1', port: 0 })
process.stdout.write(`${url}\n`)
process.on('SIGTERM', () => process.exit(0))
