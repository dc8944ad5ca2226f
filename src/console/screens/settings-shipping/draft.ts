/** The form of a method, as signals: a list of zones and a list of bands, each with fields of its own. */
import { type Signal, signal } from '@preact/signals'
import { countryChoice } from '../../lib/format/locale-lists.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { type Draft, draftOf, textsOf } from '../../lib/forms/draft.ts'
import type { BandTexts, MethodTexts, ZoneTexts } from './methods.domain.ts'

type Chosen = { countries: Signal<readonly Choice[]> }
export type ZoneDraft = Draft<Omit<ZoneTexts, 'countries'>> & Chosen & { readonly key: number }
export type BandDraft = Draft<BandTexts> & { readonly key: number }
export type MethodDraft = Draft<Omit<MethodTexts, 'countries' | 'zones' | 'bands'>> &
  Chosen & { zones: Signal<readonly ZoneDraft[]>; bands: Signal<readonly BandDraft[]> }

let made = 0
const chosen = (codes: readonly string[]): Chosen => ({ countries: signal(codes.map(countryChoice)) })

export const zoneDraft = ({ countries, ...texts }: ZoneTexts): ZoneDraft => ({ ...draftOf(texts), ...chosen(countries), key: ++made })
export const bandDraft = (texts: BandTexts): BandDraft => ({ ...draftOf(texts), key: ++made })

export const methodDraft = ({ countries, zones, bands, ...texts }: MethodTexts): MethodDraft => ({
  ...draftOf(texts),
  ...chosen(countries),
  zones: signal(zones.map(zoneDraft)),
  bands: signal(bands.map(bandDraft)),
})

const codesOf = ({ countries }: Chosen) => countries.value.map(({ id }) => id)

/** What stands in the fields now. */
export function typedIn({ countries, zones, bands, ...texts }: MethodDraft): MethodTexts {
  return {
    ...textsOf<Omit<MethodTexts, 'countries' | 'zones' | 'bands'>>(texts),
    countries: codesOf({ countries }),
    zones: zones.value.map(({ rest, provinces, ...zone }) => ({
      rest: rest.value,
      countries: codesOf(zone),
      provinces: provinces.value,
    })),
    bands: bands.value.map(({ upTo, amount }) => ({ upTo: upTo.value, amount: amount.value })),
  }
}
