import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegistry } from '../../src/cli/registry-file.ts'
import { describeChain } from '../support/chain/anvil.ts'
import { deployer, startChain } from '../support/chain/eas.ts'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, logIn, serve, souk, startCommand, withFile } from './souk.ts'

const root = { email: 'root@example.com', password: 'password-of-root' }
const stranger = '0x00000000000000000000000000000000000000b1'

describeProcesses('souk chain, beside a running server', () => {
  describeChain('on a node', () => {
    test('souk chain syncs, shows its progress, exports the registry, and anyone can verify the figures with it', async () => {
      await using chain = await startChain()
      const uids = await chain.attest([
        ...(['A', 'A', 'C', 'C', 'C'] as const).map((schema) => ({ schema, attester: deployer })),
        { schema: 'A', attester: stranger },
      ])
      await chain.revoke(uids.slice(0, 1))
      const last = await chain.block()
      // The finalized block is two behind the newest.
      await chain.mine(2)
      const dataDir = temporaryDir()
      await souk(['setup', '--email', root.email], dataDir, { stdin: root.password })
      const settingsBy = (url: string) => ({ CHAINS: JSON.stringify([{ chainId: chain.chainId, rpc: [url], contract: chain.contract }]) })
      const settings = settingsBy(`${chain.url}/?key=PLANTED`)
      const run = (...args: string[]) => souk(['chain', ...args], dataDir, { settings })
      expect(await run('status')).toEqual({ status: 0, stdout: 'Chain 31337\n  nothing read yet\n', stderr: '' })
      // The server cannot reach a node, so only the commands read the chain.
      await using server = await serve(dataDir, settingsBy('http://127.0.0.1:9'))
      const token = await logIn(server, root)
      const wallet = { address: deployer, from: '2020-01-01T00:00:00Z' }
      expect(await server.call('POST', '/admin/platform-wallets', { token, body: wallet })).toMatchObject({ status: 201 })
      const counted = `counted to block ${last.number} ${last.hash}`
      expect(await run('sync')).toEqual({ status: 0, stdout: `Chain 31337: ${counted}\n`, stderr: '' })
      const status = await run('status')
      expect([status.status, status.stderr]).toEqual([0, ''])
      expect(status.stdout).toContain(`\n  counted to  ${last.number} ${last.hash} of ${new Date(last.at * 1_000).toISOString()}\n`)
      expect(status.stdout).toContain(`\n  head        ${last.number + 2}, 2 blocks ahead\n`)
      expect(status.stdout).toContain(`\n  answered    ${new URL(chain.url).host}, `)
      const stats = await server.call('GET', '/v2/trust-fabric/stats')
      expect(stats.body.attestations).toEqual({ schemaA: 1, schemaB: 0, schemaC: 3, schemaD: 0 })

      const exported = await run('registry')
      expect([exported.status, exported.stderr]).toEqual([0, ''])
      const registry = readRegistry(exported.stdout)
      if (!('grants' in registry)) throw new Error(registry.problem)
      expect(await chain.countsOfChain(registry.grants)).toEqual({ A: 1, B: 0, C: 3, D: 0 })
      const file = join(temporaryDir(), 'registry.json')
      writeFileSync(file, exported.stdout)
      const verify = () => run('verify', '--registry', file, '--against', server.url)
      const sameCounts = await verify()
      expect([sameCounts.status, sameCounts.stderr]).toEqual([0, ''])
      expect(sameCounts.stdout).toEndWith(`\n  A 1\n  B 0\n  C 3\n  D 0\n${new URL(server.url).host} has the same counts\n`)

      const database = join(dataDir, 'souk.db')
      withFile(database, (rows) => rows.run("update trust_counts set value = value + 1 where name = 'attestations.C'"))
      const higherCount = await verify()
      expect([higherCount.status, higherCount.stderr.split('\n')[0]]).toEqual([1, 'FAIL  Schema C: the server counts 4, the chains have 3'])
      withFile(database, (rows) => rows.run("update trust_counts set value = value - 1 where name = 'attestations.C'"))
      withFile(database, (rows) => rows.run(`update chain_syncs set counted_to_hash = '0x${'ab'.repeat(32)}'`))
      const otherHash = await verify()
      expect([otherHash.status, otherHash.stderr]).toEqual([
        1,
        expect.stringMatching(/^FAIL {2}Chain 31337: block \d+ is 0x\w+, but the server counted to 0xab.*: the histories differ\n/),
      ])

      const withoutChains = await souk(['chain', 'status'], dataDir, { settings: {} })
      expect([withoutChains.status, withoutChains.stdout.split('\n')[2]]).toEqual([0, expect.stringContaining('not in CHAINS')])

      const resynced = await run('resync', '--chain', '31337', '--from', '0')
      expect([resynced.status, resynced.stdout.split('\n')[0]]).toEqual([
        0,
        'Chain 31337: nothing counted yet; 5 attestations removed, to be read again',
      ])
      expect((await server.call('GET', '/v2/trust-fabric/stats')).body.attestations).toMatchObject({ schemaA: 0, schemaC: 0 })
      expect((await run('sync')).stdout).toBe(`Chain 31337: ${counted}\n`)
      expect((await verify()).status).toBe(0)

      const { status: added } = await server.call('POST', '/admin/platform-wallets', { token, body: { ...wallet, address: stranger } })
      expect(added).toBe(201)
      const stale = await verify()
      expect([stale.status, stale.stderr]).toEqual([
        1,
        expect.stringMatching(/^FAIL {2}The server uses the registry [0-9a-f]{64}: export it again\n$/),
      ])
      for (const { stdout, stderr } of [status, exported, sameCounts, higherCount, otherHash, resynced, stale])
        expect(stdout + stderr).not.toContain('PLANTED')
    })

    test('Ctrl-C during a request to a node releases the chain for the next command at once', async () => {
      await using chain = await startChain()
      await chain.mine(2)
      const dataDir = temporaryDir()
      await souk(['setup', '--email', root.email], dataDir, { stdin: root.password })
      const requested = Promise.withResolvers<void>()
      using silent = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        idleTimeout: 0,
        fetch: () => {
          requested.resolve()
          return new Promise<Response>(() => undefined)
        },
      })
      const chains = (url: string) => ({ CHAINS: JSON.stringify([{ chainId: chain.chainId, rpc: [url], contract: chain.contract }]) })
      const child = startCommand(['chain', 'sync'], dataDir, chains(`http://127.0.0.1:${silent.port}`))
      await requested.promise
      child.kill('SIGINT')
      const [status, stderr] = await Promise.all([child.exited, Bun.readableStreamToText(child.stderr)])
      expect([status, stderr]).toEqual([130, 'Stopped. Run it again to continue\n'])
      const next = await souk(['chain', 'sync'], dataDir, { settings: chains(chain.url) })
      expect([next.status, next.stderr, next.stdout]).toEqual([0, '', expect.stringMatching(/^Chain 31337: counted to block \d+ 0x/)])
    })
  })
})
