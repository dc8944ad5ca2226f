/**
 * Parses `CHAINS`, and lists the contracts of the Ethereum Attestation Service (EAS) on known chains. Addresses are in
 * lower case.
 */
import { isRecord, parseJson } from './json.ts'

/** A chain of `CHAINS`. */
export type ChainSetting = {
  readonly chainId: number
  /** URLs of nodes in the order of use. They may contain keys, so only their hosts are shown. */
  readonly rpc: readonly string[]
  /** Address of the EAS contract. */
  readonly contract: string
  /** Block of the contract's deployment. */
  readonly startBlock: number
  /** Blocks on top of a block before it is read; undefined: it is read when it is `finalized`. */
  readonly confirmations: number | undefined
}

type Deployment = { readonly contract: string; readonly registry: string; readonly startBlock: number }

const predeployed = (startBlock = 0): Deployment => ({
  contract: '0x4200000000000000000000000000000000000021',
  registry: '0x4200000000000000000000000000000000000020',
  startBlock,
})
const deployed = (contract: string, registry: string, startBlock: number): Deployment => ({ contract, registry, startBlock })

/**
 * Deployments of `@ethereum-attestation-service/eas-contracts` 1.9.0. The first blocks of chains 10, 8453 and 324 are
 * from the EAS indexer. 0: the contract exists since the first block.
 */
export const deployments: ReadonlyMap<number, Deployment> = new Map([
  [1, deployed('0xa1207f3bba224e2c9c3c6d5af63d0eb1582ce587', '0xa7b39296258348c78294f95b872b282326a97bdf', 16_756_728)],
  [10, predeployed(107_476_600)],
  [8453, predeployed(3_701_279)],
  [130, predeployed()],
  [1868, predeployed()],
  [57_073, predeployed()],
  [84_532, predeployed()],
  [11_155_420, predeployed()],
  [42_161, deployed('0xbd75f629a22dc1ced33dda0b68c546a1c035c458', '0xa310da9c5b885e7fb3fba9d66e9ba6df512b78eb', 64_528_381)],
  [137, deployed('0x5e634ef5355f45a855d02d66ecd687b1502af790', '0x7876eef51a891e737af8ba5a5e0f0fd29073d5a7', 51_279_773)],
  [534_352, deployed('0xc47300428b6ad2c7d03bb76d05a176058b47e6b0', '0xd2cdf46556543316e7d34e8edc4624e2bb95e3b6', 1_317_868)],
  [59_144, deployed('0xaef4103a04090071165f78d45d83a0c0782c2b2a', '0x55d26f9ae0203ef95494ae4c170ed35f4cf77797', 362_820)],
  [42_220, deployed('0x72e1d8ccf5299fb36fefd8cc4394b8ef7e98af92', '0x5ece93be4bdcf293ed61fa78698b594f2135af34', 24_646_040)],
  [324, deployed('0x21d8d4ee83b80bc0cc0f2b7df3117cf212d02901', '0xb8566376dfe68b76fa985d5448cc2fbd578412a2', 32_837_640)],
  [11_155_111, deployed('0xc2679fbd37d54388ce493f1db75320d236e1815e', '0x0a7e2ff54e76b8e6659aedc9103fb21c038050d0', 2_958_571)],
])

const chainsMax = 50
const providersMax = 20
/** Maximum length of a node's URL. */
export const urlMax = 2_000
const fields = ['chainId', 'rpc', 'contract', 'startBlock', 'confirmations']

/**
 * Reads `CHAINS`: a JSON list of `{ chainId, rpc: […], contract?, startBlock?, confirmations? }`.
 * @throws Error whose message completes "CHAINS must be …", names what is wrong and repeats no value but chain ids
 */
export function readChains(text: string): readonly ChainSetting[] {
  const list = parseJson(text)
  if (!Array.isArray(list) || list.length > chainsMax)
    throw new Error(`a JSON list of at most ${chainsMax} chains: [{ "chainId": 1, "rpc": ["https://…"] }]`)
  const chains = list.map((item: unknown, nth) => chainOf(item, `a JSON list whose chain ${nth + 1} has`))
  if (new Set(chains.map(({ chainId }) => chainId)).size < chains.length) throw new Error('a JSON list that has each chainId once')
  return chains
}

function chainOf(item: unknown, where: string): ChainSetting {
  if (!isRecord(item)) throw new Error(`${where} fields, as { "chainId": 1, "rpc": […] }`)
  if (Object.keys(item).some((name) => !fields.includes(name))) throw new Error(`${where} no other fields than ${fields.join(', ')}`)
  const { chainId, rpc, contract, startBlock, confirmations } = item
  if (!isWhole(chainId, 1)) throw new Error(`${where} a chainId that is a whole number from 1`)
  const deployment = deployments.get(chainId)
  if (!Array.isArray(rpc) || rpc.length === 0 || rpc.length > providersMax || !rpc.every(isWebUrl))
    throw new Error(`${where} 1 to ${providersMax} http or https URLs in rpc, without user names and passwords`)
  if (new Set(rpc).size < rpc.length) throw new Error(`${where} each URL in rpc once`)
  if (contract !== undefined && !(typeof contract === 'string' && /^0x[0-9a-f]{40}$/i.test(contract)))
    throw new Error(`${where} a contract of 0x and 40 hex digits`)
  const isSame = contract === undefined || contract.toLowerCase() === deployment?.contract
  const address = contract?.toLowerCase() ?? deployment?.contract
  if (address === undefined) throw new Error(`${where} a contract, because souk knows none for its chainId`)
  if (startBlock !== undefined && !isWhole(startBlock, 0)) throw new Error(`${where} a startBlock that is a whole number from 0`)
  if (confirmations !== undefined && !(isWhole(confirmations, 0) && confirmations <= 1_000_000))
    throw new Error(`${where} confirmations that are a whole number from 0 to 1000000`)
  return { chainId, rpc, contract: address, startBlock: startBlock ?? (isSame ? deployment?.startBlock : undefined) ?? 0, confirmations }
}

const isWhole = (value: unknown, least: number): value is number => Number.isSafeInteger(value) && (value as number) >= least

/** Returns whether a value is an http or https URL without credentials. */
export const isWebUrl = (value: unknown): value is string => {
  const url = typeof value === 'string' && value.length <= urlMax ? URL.parse(value) : null
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}
