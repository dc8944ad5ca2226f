import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chain as chainCommand } from '../../src/cli/chain.ts'
import { explain } from '../../src/cli/failure.ts'
import { formatRegistry } from '../../src/cli/registry-file.ts'
import { decodeStatement, refOf, type Statements } from '../../src/clients/chain/eas.ts'
import { parseConfig } from '../../src/config.ts'
import { type SchemaName, schemaNames, schemaUids, zeroAddress } from '../../src/lib/eas.ts'
import { registryHash } from '../../src/modules/trust/fabric/domain.ts'
import { describeChain, startAnvil } from '../support/chain/anvil.ts'
import { deployEas, deployer, deployerKey, type Grant, startChain } from '../support/chain/eas.ts'
import { temporaryDir } from '../support/database.ts'
import { describeProcesses, onTerminal, souk } from './souk.ts'

const lender = '0x00000000000000000000000000000000000000b1'
const provider = '0x00000000000000000000000000000000000000d1'
const merchantId = 'mer_01jd8w3k5zfx2t9q4m7v6b0cne'

const hash = `0x${'ab'.repeat(32)}` as const
const instant = '2026-01-31T12:00:00Z'
const second = 1_769_860_800n
/** The content of a statement file of each schema. */
const files = {
  A: { merchantRef: merchantId, shopUrl: 'https://shop.example/?a=ü', method: 2, evidenceHash: hash, verifiedAt: instant },
  B: {
    merchantRef: merchantId,
    lenderRef: hash,
    methodologyHash: hash,
    tier: 3,
    ceilingUsdCents: '18446744073709551615',
    operationalRisk: 2,
    inputsHash: hash,
    assessedAt: Number(second),
  },
  C: { merchantRef: merchantId, loanRef: 'loan 17', outcome: 'DEFAULT', amountUsdCents: 12_345, dueAt: instant, settledAt: null },
  D: {
    providerRef: hash,
    subjectRef: merchantId,
    archetype: 'cross_border',
    claimType: 255,
    observations: 4_294_967_295,
    periodStart: 0,
    periodEnd: instant,
    evidenceHash: hash,
    recipient: lender,
  },
} as const
/** The statements that the files contain. */
const statements: Statements = {
  A: { merchantRef: refOf(merchantId), shopUrl: 'https://shop.example/?a=ü', method: 2, evidenceHash: hash, verifiedAt: second },
  B: {
    merchantRef: refOf(merchantId),
    lenderRef: hash,
    methodologyHash: hash,
    tier: 3,
    ceilingUsdCents: 2n ** 64n - 1n,
    operationalRisk: 2,
    inputsHash: hash,
    assessedAt: second,
  },
  C: { merchantRef: refOf(merchantId), loanRef: refOf('loan 17'), outcome: 2, amountUsdCents: 12_345n, dueAt: second, settledAt: 0n },
  D: {
    providerRef: hash,
    subjectRef: refOf(merchantId),
    archetype: 3,
    claimType: 255,
    observations: 4_294_967_295,
    periodStart: 0n,
    periodEnd: second,
    evidenceHash: hash,
  },
}

/** Returns a path that does not exist. */
const absentDir = () => join(temporaryDir(), 'absent')

const keyFile = (key = deployerKey, mode = 0o600) => {
  const file = join(temporaryDir(), 'key')
  writeFileSync(file, `${key}\n`, { mode })
  return file
}
const jsonFile = (value: unknown) => {
  const file = join(temporaryDir(), 'file.json')
  writeFileSync(file, JSON.stringify(value))
  return file
}

/** Runs a chain command without an instance, and checks that it does not create DATA_DIR. */
async function run(args: readonly string[], settings: Record<string, string> = {}) {
  const dir = absentDir()
  const outcome = await souk(['chain', ...args], temporaryDir(), { settings: { ...settings, DATA_DIR: dir } })
  expect(existsSync(dir)).toBe(false)
  return outcome
}

/** Runs a chain command in this process with --yes, and returns the text of its error. */
async function errorOf(positionals: string[], flags: Record<string, string>): Promise<string> {
  const values = new Map(Object.entries(flags))
  const error = await chainCommand({ config: () => parseConfig({}), env: {}, switches: new Set(['yes']), values, positionals }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return explain(error, {}).text
}

describeProcesses('souk chain', () => {
  describeChain('on a node', () => {
    test('souk chain register shows costs in a dry run, registers with --yes, and does nothing the second time', async () => {
      await using anvil = await startAnvil()
      const { contract } = await deployEas(anvil, { schemas: false })
      await anvil.mineAtOnce()
      const settings = { CHAINS: JSON.stringify([{ chainId: 31_337, rpc: [`${anvil.url}/?key=PLANTED`], contract }]) }
      const before = await anvil.block()
      const dry = await run(['register', '--chain', '31337', '--key-file', keyFile()], settings)
      expect([dry.status, dry.stderr]).toEqual([0, ''])
      for (const name of schemaNames)
        expect(dry.stdout).toMatch(
          new RegExp(`^${name} ${schemaUids[name]} is not registered; registering costs at most 0\\.0\\d+ in`, 'm'),
        )
      expect(dry.stdout).toEndWith('Nothing was sent. Use --yes to send it\n')
      expect(await anvil.block()).toEqual(before)
      const sent = await run(['register', '--chain', '31337', '--yes'], { ...settings, CHAIN_SIGNING_KEY: deployerKey })
      expect([sent.status, sent.stdout.match(/registered in block \d+$/gm)?.length]).toEqual([0, 4])
      const repeated = await run(['register', '--chain', '31337', '--key-file', keyFile(), '--yes'], settings)
      expect([repeated.status, repeated.stderr, repeated.stdout.match(/ is registered$/gm)?.length]).toEqual([0, '', 4])
      for (const { stdout, stderr } of [dry, sent, repeated]) {
        expect(stdout + stderr).not.toContain('PLANTED')
        expect(stdout + stderr).not.toContain(deployerKey.slice(2))
      }
    })

    test('souk chain attest attests the content of a file under each schema, and sends nothing without --yes', async () => {
      await using chain = await startChain()
      await chain.mineAtOnce()
      const settings = { CHAINS: JSON.stringify([{ chainId: 31_337, rpc: [chain.url], contract: chain.contract }]) }
      const attest = (schema: SchemaName, content: object, ...more: string[]) =>
        run(['attest', jsonFile(content), '--schema', schema, '--chain', '31337', '--key-file', keyFile(), ...more], settings)
      const before = await chain.block()
      const dry = await attest('C', files.C)
      expect([dry.status, dry.stderr]).toEqual([0, ''])
      expect(dry.stdout).toMatch(
        /\nAttestation of schema C; sending it costs at most 0\.0\d+ in .*\nNothing was sent\. Use --yes to send it\n$/,
      )
      expect(await chain.block()).toEqual(before)
      const flags = ['--schema', 'C', '--chain', '31337', '--rpc', chain.url, '--contract', chain.contract, '--key-file', keyFile()]
      const answered = await onTerminal(['chain', 'attest', jsonFile(files.C), ...flags], temporaryDir(), [['Send it? Type yes: ', 'no\n']])
      expect([answered.status, answered.screen]).toEqual([0, expect.stringContaining('Nothing was sent. Use --yes to send it')])
      expect(await chain.block()).toEqual(before)
      for (const name of schemaNames) {
        const sent = await attest(name, files[name], '--yes')
        expect([name, sent.status, sent.stderr]).toEqual([name, 0, expect.stringMatching(/^Sending transaction 0x[0-9a-f]{64}\n$/)])
        const [, uid, number] = /^uid (0x[0-9a-f]{64})\nblock (\d+) 0x[0-9a-f]{64}\n$/m.exec(sent.stdout) ?? []
        const [found] = await chain.attestations([uid as `0x${string}`], Number(number))
        const recipient = name === 'D' ? lender : zeroAddress
        expect(found).toMatchObject({ schema: schemaUids[name], attester: deployer, recipient, revocable: true, expirationTime: 0n })
        expect(decodeStatement(name, found?.data ?? '0x')).toEqual(statements[name])
      }
    })

    test('souk chain refuses to sign for another chain, with a readable key file, or under a missing schema', async () => {
      await using anvil = await startAnvil()
      const { contract } = await deployEas(anvil, { schemas: false })
      await anvil.mineAtOnce()
      const before = await anvil.block()
      const attest = (more: Record<string, string>, content: object = files.C) =>
        errorOf(['attest', jsonFile(content)], { schema: 'C', chain: '31337', rpc: anvil.url, contract, 'key-file': keyFile(), ...more })
      const { host } = new URL(anvil.url)
      const readableKeyFile = keyFile(deployerKey, 0o640)
      const unfundedKeyFile = keyFile(`0x${'1'.repeat(64)}`)
      for (const [message, expected] of [
        [await attest({ chain: '31338' }), `No node of chain 31338 answers:\n  ${host}: node of another chain (31337)`],
        [await attest({ 'key-file': readableKeyFile }), `Other users can read ${readableKeyFile}`],
        [await attest({ 'key-file': keyFile('0xPLANTED') }), 'must contain a private key only'],
        [await attest({ 'key-file': keyFile(`0x${'0'.repeat(64)}`) }), 'must contain a private key only'],
        [await attest({ contract: lender }), 'No Ethereum Attestation Service found at '],
        [await attest({}), 'Schema C is not registered on chain 31337. Run `souk chain register`'],
        [await attest({ schema: 'D' }, { ...files.D, recipient: deployer }), 'never count'],
        [
          await errorOf(['register'], { chain: '31337', rpc: anvil.url, contract, 'key-file': unfundedKeyFile }),
          ' has 0, which is not enough. Nothing was sent',
        ],
      ] as const) {
        expect(message).toContain(expected)
        expect(message).not.toContain('PLANTED')
        expect(message).not.toContain(deployerKey.slice(2))
      }
      expect(await anvil.block()).toEqual(before)
    })

    test('souk chain verify counts the same as the contract from file and chain, and detects an altered file', async () => {
      await using chain = await startChain()
      const first = await chain.attest([
        ...Array.from({ length: 60 }, () => ({ schema: 'B', attester: lender }) as const),
        { schema: 'C', attester: lender },
        { schema: 'A', attester: lender },
        { schema: 'D', attester: provider },
        { schema: 'D', attester: provider, recipient: provider },
      ])
      await chain.revoke(first.slice(0, 7))
      const { at } = await chain.block()
      await chain.nextBlockAt(at + 1_000)
      await chain.attest([
        { schema: 'B', attester: lender },
        { schema: 'C', attester: lender },
      ])
      const head = await chain.block()
      await chain.mine(2)
      const grants: Grant[] = [
        { address: lender, schema: 'B', fromAt: 0, toAt: (at + 1_000) * 1_000 },
        { address: lender, schema: 'C', fromAt: 0, toAt: null },
        { address: provider, schema: 'D', fromAt: 0, toAt: null },
      ]
      const expected = await chain.countsOfChain(grants)
      expect(expected).toEqual({ A: 0, B: 53, C: 2, D: 1 })
      const file = join(temporaryDir(), 'registry.json')
      writeFileSync(file, formatRegistry(grants))
      const verify = (...more: string[]) => run(['verify', '--registry', file, '--rpc', chain.url, '--contract', chain.contract, ...more])
      const counted = ({ A, B, C, D } = expected) => `\n  A ${A}\n  B ${B}\n  C ${C}\n  D ${D}\n`
      // Each epoch has one block, so the finalized block is two behind the newest.
      const verified = await verify()
      expect([verified.status, verified.stderr]).toEqual([0, ''])
      expect(verified.stdout).toStartWith(`Registry ${registryHash(grants)}, 3 grants\n`)
      expect(verified.stdout).toEndWith(` blocks 0 to ${head.number} ${head.hash}${counted()}`)
      const older = await verify('--to', String(head.number - 2))
      expect(older.stdout).toEndWith(counted(await chain.countsOfChain(grants, head.number - 2)))
      writeFileSync(file, formatRegistry(grants).replace('"to":null', '"to":"2030-01-01T00:00:00.000Z"'))
      const changed = await verify()
      expect([changed.status, changed.stdout, changed.stderr]).toEqual([1, '', expect.stringMatching(/it was changed\n$/)])
    })
  })
})
