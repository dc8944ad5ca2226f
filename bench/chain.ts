/**
 * Measures the sync of attestations into the file database, alone and during product reads, which must keep most of
 * their rate.
 */
import { Database as Sqlite } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchContract, benchWallet } from './chain-node.ts'
import { load } from './load.ts'
import { figure, median, print, quick, readLoad, reportRatios, reportSingle, residentMb, rounds, start, work } from './runs.ts'
import { seed } from './seed.ts'

const logsPerBlock = 200
const [blocksAlone, blocksDuringReads] = quick ? [400, 200] : [1_500, 300]
const products = 2_000
const chainId = 31_337

export async function measureChain(): Promise<void> {
  const blocks = blocksAlone + (rounds + 1) * blocksDuringReads
  print(`attestations: ${figure(blocks * logsPerBlock)} logs of a loopback server that answers as anvil does (bench/chain-node.ts)`)
  const dataDir = join(work, 'chain')
  const { ids } = await seed(dataDir, products)
  const db = new Sqlite(join(dataDir, 'souk.db'))
  db.run('PRAGMA busy_timeout = 5000')
  db.run('INSERT INTO grants (address, schema, from_at, to_at) VALUES (?, ?, 0, NULL)', [benchWallet, 'B'])
  db.run('INSERT INTO attester_addresses (address, registered_at) VALUES (?, 0)', [benchWallet])
  const counted = db.query<{ value: number }, []>(`SELECT coalesce(sum(value), 0) AS value FROM trust_counts WHERE chain_id = ${chainId}`)
  const logs = () => counted.get()?.value ?? 0

  const node = await start('chain-node.ts', String(blocks), String(logsPerBlock))
  const chains = JSON.stringify([{ chainId, rpc: [node.url], contract: benchContract, startBlock: 1 }])
  const souk = await start('souk.ts', dataDir, 'FULL', JSON.stringify({ CHAINS: chains }))
  const allow = (block: number) => fetch(`${node.url}/final/${block}`)
  const until = async (isReached: () => boolean) => {
    while (!isReached()) await Bun.sleep(5)
  }

  await allow(blocksAlone)
  await until(() => logs() > 0)
  const [first, startedAt, cpuBefore] = [logs(), performance.now(), cpuSeconds(souk.pid)]
  let peak = 0
  await until(() => {
    peak = Math.max(peak, residentMb(souk.pid))
    return logs() >= blocksAlone * logsPerBlock
  })
  const [seconds, cpu] = [(performance.now() - startedAt) / 1_000, cpuSeconds(souk.pid) - cpuBefore]
  const read = logs() - first
  reportSingle('logs a second into the file', `${figure(read / seconds)}/s (${figure(read / cpu)} a second of processor)`, '≥ 20,000')
  reportSingle('resident memory at most, while it reads', `${figure(peak)} MB`, 'bounded')

  const requests = { paths: ids.map((id) => `/product-v2/public/${id}`) }
  await load(souk.url, requests, { ...readLoad, seconds: 1 })
  const [alone, duringSync, rates]: [number[], number[], number[]] = [[], [], []]
  for (let round = 1; round <= rounds; round++) {
    alone.push((await load(souk.url, requests, readLoad)).perSecond)
    const before = logs()
    await allow(blocksAlone + round * blocksDuringReads)
    await until(() => logs() > before)
    const [from, at] = [logs(), performance.now()]
    duringSync.push((await load(souk.url, requests, readLoad)).perSecond)
    // Enough attestations that the sync lasts longer than the measurement.
    rates.push(((logs() - from) / (performance.now() - at)) * 1_000)
    const all = (blocksAlone + round * blocksDuringReads) * logsPerBlock
    if (logs() >= all) print(`round ${round}: all ${figure(all - from)} logs were read before the readers had ended`)
    await until(() => logs() >= all)
  }
  const ratios = duringSync.map((rate, nth) => rate / (alone[nth] ?? 1))
  const [during, without] = [`${figure(median(duringSync))}/s`, `${figure(median(alone))}/s without it`]
  reportRatios({ what: 'product reads beside the sync', souk: during, floor: without, target: '≥ 0.70' }, ratios)
  reportSingle('logs a second beside product reads', `${figure(median(rates))}/s`, '≥ 2,000')
  db.close()
  await souk.stop()
  await node.stop()
}

/** Returns the CPU seconds of a process. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
