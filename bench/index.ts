/**
 * `bun run bench
 * [start|catalog|resolver|orders|orders-search|buying|discounts|lending|abuse|agents|hanging|trust|chain|kpi|export|console
 * |console-list|backup|failover|soak …] [--quick]`: compares souk with the bare floor (bench/floor.ts) in turn on the
 * same files; abuse, agents, discounts and lending compare souk with itself. Buying and lending also run on Postgres if
 * TEST_DATABASE_URL or `--postgres=URL` names a server.
 * Ratios count; absolute figures depend on the machine. Only the soak fails: with status 1 if memory does not level
 * off.
 */
import { rmSync } from 'node:fs'
import { measureAbuse } from './abuse.ts'
import { measureAgents } from './agents.ts'
import { measureBackup } from './backup.ts'
import { measureBuyingOnPostgres } from './buying-postgres.ts'
import { measureCatalog } from './catalog.ts'
import { measureChain } from './chain.ts'
import { measureConsole } from './console.ts'
import { measureList } from './console-list.ts'
import { measureDiscounts } from './discounts.ts'
import { measureExport } from './export.ts'
import { measureFailover } from './failover.ts'
import { measureHanging } from './hanging.ts'
import { measureKpis } from './kpi.ts'
import { measureLending } from './lending.ts'
import { measureOrdersSearch } from './orders-search.ts'
import { measureResolver } from './resolver.ts'
import { children, print, readLoad, rounds, table, work } from './runs.ts'
import { measureSelling } from './selling.ts'
import { measureSoak } from './soak.ts'
import { measureStart } from './start.ts'
import { measureTrust } from './trust.ts'

const names = Bun.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const isWanted = (part: string) => names.length === 0 || names.includes(part)

try {
  print(`souk against the floor, ${rounds} rounds in turn of ${readLoad.seconds} s, ${readLoad.connections} connections`)
  if (isWanted('start')) await measureStart()
  if (isWanted('catalog')) await measureCatalog()
  if (isWanted('resolver')) await measureResolver()
  if (isWanted('orders') || isWanted('buying')) await measureSelling({ orders: isWanted('orders'), buying: isWanted('buying') })
  const server =
    Bun.argv.find((argument) => argument.startsWith('--postgres='))?.slice('--postgres='.length) ?? Bun.env['TEST_DATABASE_URL']
  if (isWanted('buying') && server) await measureBuyingOnPostgres(server)
  if (isWanted('orders-search')) await measureOrdersSearch(server)
  if (isWanted('discounts')) await measureDiscounts()
  if (isWanted('lending')) await measureLending(server)
  if (isWanted('kpi')) await measureKpis(server)
  if (isWanted('trust')) await measureTrust()
  if (isWanted('abuse')) await measureAbuse()
  if (isWanted('agents')) await measureAgents()
  if (isWanted('hanging')) await measureHanging()
  if (isWanted('chain')) await measureChain()
  if (isWanted('export')) await measureExport()
  if (isWanted('console')) await measureConsole()
  if (isWanted('console') || isWanted('console-list')) await measureList()
  if (isWanted('backup')) await measureBackup()
  if (isWanted('failover')) await measureFailover()
  // Not part of a full run: it takes up to an hour.
  if (names.includes('soak')) await measureSoak()
  process.stdout.write(`${table()}\n`)
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(work, { recursive: true, force: true })
}
