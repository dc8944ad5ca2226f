/**
 * The files of log shipping. A generation is a gapless series of commits in numbered segments.
 * A snapshot holds the database pages read while the log continued. It is valid with the segments from `first` on, from
 * the end of segment `last`.
 */

/** The prefix of every name. */
export const shippedPrefix = 'wal/'

export type Segment = { readonly kind: 'segment'; readonly generation: string; readonly index: number; readonly at: number }
type Snapshot = {
  readonly kind: 'snapshot'
  readonly generation: string
  readonly first: number
  readonly last: number
  /** The first moment that it can restore. */
  readonly at: number
  readonly begunAt: number
}
type Pages = { readonly kind: 'pages'; readonly generation: string; readonly begunAt: number }
type GenerationStart = { readonly kind: 'begun'; readonly generation: string }
export type ShippedFile = (Segment | Snapshot | Pages | GenerationStart) & { readonly name: string }

const digits = 9
const count = (value: number) => String(value + 1).padStart(digits, '0')
const generationPath = (generation: string) => `${shippedPrefix}${generation}`

/**
 * Names a generation; names sort by start time within an instance.
 * @param instance eight hex digits that identify the instance
 * @param at milliseconds since the epoch
 * @param random a few bytes
 */
export const generationName = (instance: string, at: number, random: Uint8Array): string =>
  `${instance}/${new Date(at).toISOString().replace(/[-:.]/g, '')}-${Buffer.from(random).toString('hex')}`

/** Names the file of the instance's keys, including earlier ones. */
export const shippedKeysName = (instance: string): string => `${shippedPrefix}${instance}/keys.json`
/** Names the record of the last stop. */
export const endedName = (instance: string): string => `${shippedPrefix}${instance}/ended`
/** Names the record of the active shipper. */
export const claimName = (instance: string): string => `${shippedPrefix}${instance}/shipper`
/** Names the file that starts a generation. Its header has the version of souk. */
export const generationStartName = (generation: string): string => `${generationPath(generation)}/begun`
/** Names a segment. Names of one generation sort by index. */
export const segmentName = ({ generation, index, at }: Omit<Segment, 'kind'>): string =>
  `${generationPath(generation)}/segment-${count(index)}-${at}`
/** Names the pages of a snapshot. `begunAt`: milliseconds, when copying them began. */
export const pagesName = ({ generation, begunAt }: Omit<Pages, 'kind'>): string => `${generationPath(generation)}/pages-${begunAt}`
/** Names the record of a complete snapshot, whose pages are stored before it. */
export const snapshotName = ({ generation, first, last, at, begunAt }: Omit<Snapshot, 'kind'>): string =>
  `${generationPath(generation)}/snapshot-${count(first)}-${count(last)}-${at}-${begunAt}`

/** Parses a name; undefined for other files. */
export function parseShippedName(name: string): ShippedFile | undefined {
  const [, generation, kind, rest = ''] =
    /^wal\/([0-9a-f]{8}\/\d{8}T\d{9}Z-[0-9a-f]+)\/(begun|segment|pages|snapshot)((?:-\d+)*)$/.exec(name) ?? []
  if (generation === undefined) return undefined
  const [one = Number.NaN, two = Number.NaN, three = Number.NaN, four = Number.NaN] = rest.split('-').slice(1).map(Number)
  if (kind === 'begun') return { kind, name, generation }
  if (kind === 'segment') return { kind, name, generation, index: one - 1, at: two }
  if (kind === 'pages') return { kind, name, generation, begunAt: one }
  return { kind: 'snapshot', name, generation, first: one - 1, last: two - 1, at: three, begunAt: four }
}

export type RestorePlan = {
  readonly snapshot: Snapshot & { readonly name: string }
  /** In order and without a gap. */
  readonly segments: readonly (Segment & { readonly name: string })[]
  /** The moment up to which commits are included. */
  readonly upTo: number
  /** The index of a missing segment, if later ones were needed. */
  readonly missing?: number
  /** The start of a later generation within the requested time, so that nothing was shipped between `upTo` and then. */
  readonly resumedAt?: number
}

/**
 * Plans a restore of the state at `to` (milliseconds since the epoch): the last snapshot valid by then and its segments
 * up to `to`.
 * @returns undefined if nothing reaches back that far
 */
export function planRestore(shipped: readonly ShippedFile[], to: number): RestorePlan | undefined {
  const snapshots = shipped
    .filter((one) => one.kind === 'snapshot')
    .filter(
      ({ at, generation, begunAt }) =>
        at <= to && shipped.some((one) => one.kind === 'pages' && one.generation === generation && one.begunAt === begunAt),
    )
    .sort((a, b) => b.at - a.at || b.begunAt - a.begunAt)
  for (const snapshot of snapshots) {
    const candidates = shipped
      .filter((one) => one.kind === 'segment')
      .filter(({ generation, index, at }) => generation === snapshot.generation && index >= snapshot.first && at <= to)
      .sort((a, b) => a.index - b.index || a.at - b.at)
      // A killed process may leave a late upload; the next process stored that segment again.
      .filter(({ index }, nth, all) => index !== all[nth + 1]?.index)
    const gap = candidates.findIndex(({ index }, nth) => index !== snapshot.first + nth)
    const segments = gap < 0 ? candidates : candidates.slice(0, gap)
    // Until that segment its pages are of different moments.
    if (snapshot.first + segments.length <= snapshot.last) continue
    const upTo = Math.max(snapshot.at, segments.at(-1)?.at ?? 0)
    const later = shipped.filter(({ kind, generation }) => kind === 'begun' && generation > snapshot.generation).map(begunAtOf)
    const resumedAt = later.filter((at) => at <= to).sort((a, b) => a - b)[0]
    return {
      snapshot,
      segments,
      upTo,
      ...(gap < 0 ? {} : { missing: snapshot.first + gap }),
      ...(resumedAt === undefined ? {} : { resumedAt }),
    }
  }
  return undefined
}

type ResumableGeneration = {
  readonly snapshot: RestorePlan['snapshot']
  readonly last: RestorePlan['segments'][number]
  /** The files that a restore of its last moment needs. */
  readonly names: readonly string[]
}

/** Returns the last generation if it has a snapshot and no gap; undefined otherwise. */
export function resumableGeneration(shipped: readonly ShippedFile[]): ResumableGeneration | undefined {
  const plan = planRestore(shipped, Number.MAX_SAFE_INTEGER)
  const last = plan?.segments.at(-1)
  if (!plan || !last || plan.missing !== undefined || plan.resumedAt !== undefined) return undefined
  return { snapshot: plan.snapshot, last, names: plan.segments.map(({ name }) => name) }
}

/** Returns the instance that shipped a file: eight hex digits. */
export const instanceOf = ({ generation }: Pick<ShippedFile, 'generation'>): string => generation.slice(0, generation.indexOf('/'))

/** Reads the start time from the name. */
const begunAtOf = ({ generation }: Pick<ShippedFile, 'generation'>): number =>
  Date.parse(generation.replace(/^.*\/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/, '$1-$2-$3T$4:$5:$6.$7Z'))

/** Returns the latest time in any name. */
export function newestOf(shipped: readonly ShippedFile[]): number | undefined {
  let newest: number | undefined
  for (const one of shipped) {
    const at = one.kind === 'begun' ? begunAtOf(one) : one.kind === 'pages' ? one.begunAt : one.at
    newest = Math.max(newest ?? at, at)
  }
  return newest
}

/** Returns the restorable range by the names. */
export function restorableRange(shipped: readonly ShippedFile[]): { from: number; to: number } | undefined {
  const starts = shipped.flatMap((one) => (one.kind === 'snapshot' ? [one.at] : []))
  if (starts.length === 0) return undefined
  const plan = planRestore(shipped, Number.MAX_SAFE_INTEGER)
  return { from: Math.min(...starts), to: plan?.upTo ?? Math.max(...starts) }
}

/**
 * Lists removable files in the order of removal: those not needed to restore any moment from `keepFrom` on.
 * The last snapshot and everything the current generation shipped since stay.
 * @param current the current generation; `begunAt` is the start of its running snapshot
 */
export function removableFiles(
  shipped: readonly ShippedFile[],
  { keepFrom, current, begunAt }: { keepFrom: number; current: string; begunAt: number | undefined },
): string[] {
  const snapshots = shipped.filter((one) => one.kind === 'snapshot').sort((a, b) => a.at - b.at)
  const firstKept = Math.max(
    0,
    snapshots.findLastIndex(({ at }) => at <= keepFrom),
  )
  const keptSnapshots = snapshots.slice(firstKept)
  const neededSnapshots = (generation: string) => keptSnapshots.filter((one) => one.generation === generation)
  const isRemovable = (one: ShippedFile): boolean => {
    const needed = neededSnapshots(one.generation)
    if (one.kind === 'snapshot') return !needed.some(({ name }) => name === one.name)
    if (one.kind === 'pages')
      return !needed.some((snapshot) => snapshot.begunAt === one.begunAt) && !(one.generation === current && one.begunAt === begunAt)
    // A generation without a snapshot cannot be restored; the current one gets a snapshot later.
    if (needed.length === 0) return one.generation !== current
    return one.kind === 'segment' && one.index < Math.min(...needed.map(({ first }) => first))
  }
  const order = ['snapshot', 'pages', 'segment', 'begun']
  return shipped
    .filter(isRemovable)
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    .map(({ name }) => name)
}
