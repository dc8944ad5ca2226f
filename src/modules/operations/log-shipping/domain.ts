/**
 * What is kept of the write-ahead log, and what a database is made of again. A generation is commits without a gap, in segments that are
 * counted; a snapshot is the pages of the database file as they were found while the log went on, good together with the segments from
 * `first` on, and from the end of segment `last` on.
 */

/** What every name begins with. */
export const shippedPrefix = 'wal/'

export type Segment = { readonly kind: 'segment'; readonly generation: string; readonly index: number; readonly at: number }
export type Snapshot = {
  readonly kind: 'snapshot'
  readonly generation: string
  readonly first: number
  readonly last: number
  /** From when on it can be gone back to. */
  readonly at: number
  readonly begunAt: number
}
export type Pages = { readonly kind: 'pages'; readonly generation: string; readonly begunAt: number }
export type Begun = { readonly kind: 'begun'; readonly generation: string }
export type Shipped = (Segment | Snapshot | Pages | Begun) & { readonly name: string }

const digits = 9
const count = (value: number) => String(value + 1).padStart(digits, '0')
const home = (generation: string) => `${shippedPrefix}${generation}`

/**
 * A name for a generation: of those of an instance, one that begins later comes later.
 * @param instance eight hex digits that tell it from others with the same target
 * @param at milliseconds since the epoch
 * @param random a few bytes
 */
export const generationName = (instance: string, at: number, random: Uint8Array): string =>
  `${instance}/${new Date(at).toISOString().replace(/[-:.]/g, '')}-${Buffer.from(random).toString('hex')}`

/** The keys that the secrets of an instance are sealed under, those of before included. */
export const shippedKeysName = (instance: string): string => `${shippedPrefix}${instance}/keys.json`
/** What the one who shipped the log of an instance said when it was stopped. */
export const endedName = (instance: string): string => `${shippedPrefix}${instance}/ended`
/** Who ships the log of an instance. */
export const claimName = (instance: string): string => `${shippedPrefix}${instance}/shipper`
export const begunName = (generation: string): string => `${home(generation)}/begun`
export const segmentName = ({ generation, index, at }: Omit<Segment, 'kind'>): string => `${home(generation)}/segment-${count(index)}-${at}`
export const pagesName = ({ generation, begunAt }: Omit<Pages, 'kind'>): string => `${home(generation)}/pages-${begunAt}`
export const snapshotName = ({ generation, first, last, at, begunAt }: Omit<Snapshot, 'kind'>): string =>
  `${home(generation)}/snapshot-${count(first)}-${count(last)}-${at}-${begunAt}`

/** What a name stands for; undefined of one that is none of ours. */
export function shippedOf(name: string): Shipped | undefined {
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
  /** In order, none missing between them. */
  readonly segments: readonly (Segment & { readonly name: string })[]
  /** Up to when commits are in it. */
  readonly upTo: number
  /** A segment that is missing, though later ones are there that were asked for. */
  readonly missing?: number
  /** Nothing was shipped between `upTo` and then, though a later generation began before what was asked for. */
  readonly resumedAt?: number
}

/**
 * What to make the database of as it was at `to`, in milliseconds since the epoch: the last snapshot that was good by then and what follows
 * it, up to the last segment whose commits were all made by then. Undefined where nothing reaches back so far.
 */
export function planRestore(shipped: readonly Shipped[], to: number): RestorePlan | undefined {
  const snapshots = shipped
    .filter((one) => one.kind === 'snapshot')
    .filter(
      ({ at, generation, begunAt }) =>
        at <= to && shipped.some((one) => one.kind === 'pages' && one.generation === generation && one.begunAt === begunAt),
    )
    .sort((a, b) => b.at - a.at || b.begunAt - a.begunAt)
  for (const snapshot of snapshots) {
    const wanted = shipped
      .filter((one) => one.kind === 'segment')
      .filter(({ generation, index, at }) => generation === snapshot.generation && index >= snapshot.first && at <= to)
      .sort((a, b) => a.index - b.index || a.at - b.at)
      // Of a process that was killed something may arrive late; the next one has put it again, with what came after.
      .filter(({ index }, nth, all) => index !== all[nth + 1]?.index)
    const gap = wanted.findIndex(({ index }, nth) => index !== snapshot.first + nth)
    const segments = gap < 0 ? wanted : wanted.slice(0, gap)
    // Its pages are of different moments until then.
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

export type Continued = {
  readonly snapshot: RestorePlan['snapshot']
  readonly last: RestorePlan['segments'][number]
  /** All that it takes to go back to its last moment. */
  readonly names: readonly string[]
}

/**
 * What can be gone on with: the last generation there is, where it has a snapshot and nothing of it is missing. Undefined where it could not be gone back
 * to its end.
 */
export function continuedBy(shipped: readonly Shipped[]): Continued | undefined {
  const plan = planRestore(shipped, Number.MAX_SAFE_INTEGER)
  const last = plan?.segments.at(-1)
  if (!plan || !last || plan.missing !== undefined || plan.resumedAt !== undefined) return undefined
  return { snapshot: plan.snapshot, last, names: plan.segments.map(({ name }) => name) }
}

/** The instance that a generation is of. */
export const instanceOf = ({ generation }: Pick<Shipped, 'generation'>): string => generation.slice(0, generation.indexOf('/'))

/** When a generation began, by its name. */
const begunAtOf = ({ generation }: Pick<Shipped, 'generation'>): number =>
  Date.parse(generation.replace(/^.*\/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/, '$1-$2-$3T$4:$5:$6.$7Z'))

/** The last moment that a name tells of; undefined where there is none. */
export function newestOf(shipped: readonly Shipped[]): number | undefined {
  let newest: number | undefined
  for (const one of shipped) {
    const at = one.kind === 'begun' ? begunAtOf(one) : one.kind === 'pages' ? one.begunAt : one.at
    newest = Math.max(newest ?? at, at)
  }
  return newest
}

/** The moments that can be gone back to, as far as the names tell. */
export function reach(shipped: readonly Shipped[]): { from: number; to: number } | undefined {
  const starts = shipped.flatMap((one) => (one.kind === 'snapshot' ? [one.at] : []))
  if (starts.length === 0) return undefined
  const plan = planRestore(shipped, Number.MAX_SAFE_INTEGER)
  return { from: Math.min(...starts), to: plan?.upTo ?? Math.max(...starts) }
}

/**
 * Names that nothing needs any more, in the order in which they may go: what cannot be gone back to since before `keepFrom`. The last
 * snapshot stays, however old it is, and so does all that the generation at work has shipped since.
 * @param current the generation at work, and when the pages were begun that it is keeping
 */
export function removable(
  shipped: readonly Shipped[],
  { keepFrom, current, begunAt }: { keepFrom: number; current: string; begunAt: number | undefined },
): string[] {
  const snapshots = shipped.filter((one) => one.kind === 'snapshot').sort((a, b) => a.at - b.at)
  const firstKept = Math.max(
    0,
    snapshots.findLastIndex(({ at }) => at <= keepFrom),
  )
  const kept = snapshots.slice(firstKept)
  const needs = (generation: string) => kept.filter((one) => one.generation === generation)
  const goes = (one: Shipped): boolean => {
    const needed = needs(one.generation)
    if (one.kind === 'snapshot') return !needed.some(({ name }) => name === one.name)
    if (one.kind === 'pages')
      return !needed.some((snapshot) => snapshot.begunAt === one.begunAt) && !(one.generation === current && one.begunAt === begunAt)
    // Without a snapshot there is nothing to go on from; in the generation at work one is to come.
    if (needed.length === 0) return one.generation !== current
    return one.kind === 'segment' && one.index < Math.min(...needed.map(({ first }) => first))
  }
  const order = ['snapshot', 'pages', 'segment', 'begun']
  return shipped
    .filter(goes)
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    .map(({ name }) => name)
}
