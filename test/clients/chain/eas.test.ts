import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { decodeErrorResult, decodeFunctionResult, encodeFunctionData, parseAbi, toEventSelector } from 'viem'
import { decodeStatement, encodeStatement, refOf, registrationOf, uidOfSchema } from '../../../src/clients/chain/eas.ts'
import { deployments } from '../../../src/lib/chain-settings.ts'
import { attestedTopic, revokedTopic, schemaNames, schemaTexts, schemaUids, zeroAddress } from '../../../src/lib/eas.ts'
import { describeChain, RpcError } from '../../support/chain/anvil.ts'
import { type Chain, deployer, type Grant, sampleData, startChain } from '../../support/chain/eas.ts'
import { longTestMs } from '../../support/timeouts.ts'

setDefaultTimeout(longTestMs)

const abi = parseAbi([
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function getSchemaRegistry() view returns (address)',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
  'error AlreadyExists()',
])
const lender = '0x00000000000000000000000000000000000000b1'
const provider = '0x00000000000000000000000000000000000000d1'

test('uids and topics are the hashes of their definitions', () => {
  for (const name of schemaNames) expect([name, schemaUids[name]]).toEqual([name, uidOfSchema(schemaTexts[name])])
  expect(attestedTopic).toBe(toEventSelector('Attested(address,address,bytes32,bytes32)'))
  expect(revokedTopic).toBe(toEventSelector('Revoked(address,address,bytes32,bytes32)'))
})

test('the built-in deployments are those of the package of the contracts', () => {
  const folder = join(dirname(Bun.resolveSync('@ethereum-attestation-service/eas-contracts/package.json', import.meta.dir)), 'deployments')
  const read = (chain: string, name: string) => JSON.parse(readFileSync(join(folder, chain, `${name}.json`), 'utf8'))
  const published = new Map(
    readdirSync(folder).map((chain) => {
      const [eas, registry] = [read(chain, 'EAS'), read(chain, 'SchemaRegistry')]
      const startBlock: number | null = eas.receipt?.blockNumber ?? null
      const chainId = Number(readFileSync(join(folder, chain, '.chainId'), 'utf8'))
      return [chainId, { contract: eas.address.toLowerCase(), registry: registry.address.toLowerCase(), startBlock }]
    }),
  )
  for (const [chainId, { startBlock, ...addresses }] of deployments) {
    const publishedDeployment = published.get(chainId)
    expect([chainId, publishedDeployment]).toEqual([chainId, { ...addresses, startBlock: publishedDeployment?.startBlock ?? null }])
    // For some chains only EAS's indexer, not the package, knows the first block.
    if (publishedDeployment?.startBlock != null) expect([chainId, startBlock]).toEqual([chainId, publishedDeployment.startBlock])
  }
})

test('attestation data is decoded as it was encoded, and other data is refused', () => {
  for (const name of schemaNames) {
    const data = sampleData(name, 7)
    const statement = decodeStatement(name, data)
    if (!statement) throw new Error(`${name} was not read back`)
    expect(encodeStatement(name, statement)).toBe(data)
    expect(decodeStatement(name, `${data}00`)).toBeUndefined()
    expect(decodeStatement(name, data.slice(0, -2) as `0x${string}`)).toBeUndefined()
    expect(decodeStatement(name, '0x')).toBeUndefined()
  }
  const c = sampleData('C', 7)
  expect(decodeStatement('C', c)).toMatchObject({ merchantRef: refOf('merchant 7'), outcome: 0, amountUsdCents: 123_456n })
  // The uint8 outcome is 256.
  const offset = 2 + 3 * 64
  expect(decodeStatement('C', `${c.slice(0, offset - 3)}1${c.slice(offset - 2)}` as `0x${string}`)).toBeUndefined()
  // The offset of the text is wrong.
  expect(decodeStatement('A', sampleData('A', 7).replace('00a0', '00c0') as `0x${string}`)).toBeUndefined()
})

describeChain('the Ethereum Attestation Service on a node', () => {
  let chain: Chain
  beforeAll(async () => {
    chain = await startChain()
  })
  afterAll(() => chain?.[Symbol.asyncDispose]())

  test('the registry has our schemas under our uids, revocable and without resolver; registering again fails', async () => {
    const registry = await chain.rpc<`0x${string}`>(
      'eth_call',
      { to: chain.contract, data: encodeFunctionData({ abi, functionName: 'getSchemaRegistry' }) },
      'latest',
    )
    expect(decodeFunctionResult({ abi, functionName: 'getSchemaRegistry', data: registry }).toLowerCase()).toBe(chain.registry)
    for (const name of schemaNames) {
      const data = encodeFunctionData({ abi, functionName: 'getSchema', args: [schemaUids[name]] })
      const answer = await chain.rpc<`0x${string}`>('eth_call', { to: chain.registry, data }, 'latest')
      const record = { uid: schemaUids[name], resolver: zeroAddress, revocable: true, schema: schemaTexts[name] } as const
      expect([name, decodeFunctionResult({ abi, functionName: 'getSchema', data: answer })]).toEqual([name, record])
    }
    const repeated = { from: deployer, to: chain.registry, data: registrationOf('A') }
    const refused = await chain.rpc('eth_call', repeated, 'latest').then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).toBeInstanceOf(RpcError)
    expect(decodeErrorResult({ abi, data: (refused as RpcError).data as `0x${string}` }).errorName).toBe('AlreadyExists')
  })

  test('counts of attestations and revocations in one block equal those of the contract', async () => {
    const before = await chain.block()
    const all = Array.from({ length: 120 }, (_, at) => ({ schema: at % 2 === 0 ? 'B' : 'C', attester: lender }) as const)
    const uids = await chain.attest([
      ...all,
      { schema: 'D', attester: provider },
      { schema: 'D', attester: provider, recipient: provider },
      { schema: 'A', attester: deployer },
    ])
    expect(new Set(uids).size).toBe(123)
    expect((await chain.block()).number).toBe(before.number + 1)
    await chain.revoke(uids.slice(0, 5))
    const from = before.at * 1000
    const grants: Grant[] = [
      ...(['B', 'C'] as const).map((schema) => ({ address: lender, schema, fromAt: from, toAt: null })),
      { address: provider, schema: 'D', fromAt: from, toAt: null },
    ]
    expect(await chain.countsOfChain(grants)).toEqual({ A: 0, B: 57, C: 58, D: 1 })
    expect(await chain.countsOfChain(grants, before.number)).toEqual({ A: 0, B: 0, C: 0, D: 0 })
    expect(await chain.countsOfChain([{ ...grants[0], toAt: from + 1 } as Grant])).toEqual({ A: 0, B: 0, C: 0, D: 0 })
    const [first, , , , , sixth] = await chain.attestations(uids)
    expect([first?.revocationTime === 0n, sixth?.revocationTime]).toEqual([false, 0n])
    expect(decodeStatement('C', sixth?.data ?? '0x')).toMatchObject({ outcome: 0 })
  })

  test('a reorg removes a block of attestations, and the same uid may appear in another block', async () => {
    const head = await chain.block()
    const snapshot = await chain.snapshot()
    const data = sampleData('B', 9_000)
    const at = head.at + 100
    await chain.nextBlockAt(at)
    const [uid] = await chain.attest([{ schema: 'B', attester: lender, data }])
    const block = await chain.block()
    expect(await chain.revert(snapshot)).toBe(true)
    expect([await chain.block(), await chain.attestations([uid ?? '0x'])]).toEqual([head, []])
    await chain.mine()
    await chain.nextBlockAt(at)
    const [repeated] = await chain.attest([{ schema: 'B', attester: lender, data }])
    const other = await chain.block()
    expect([repeated, other.at, other.number]).toEqual([uid, block.at, block.number + 1])
    await chain.reorg(1)
    expect([(await chain.block()).number, await chain.attestations([uid ?? '0x'])]).toEqual([other.number, []])
    expect((await chain.block()).hash).not.toBe(other.hash)
  })
})
