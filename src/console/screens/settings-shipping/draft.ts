/** The form of a shipping method, as signals. */
import { type Signal, signal } from '@preact/signals'
import { countryChoice } from '../../lib/format/locale-lists.ts'
import type { Choice } from '../../lib/forms/choice.ts'
import { createDraft, type Draft, draftValues } from '../../lib/forms/draft.ts'
import type { BandTexts, MethodTexts, ZoneTexts } from './methods.domain.ts'

type CountryChoices = { countries: Signal<readonly Choice[]> }
export type ZoneDraft = Draft<Omit<ZoneTexts, 'countries'>> & CountryChoices & { readonly key: number }
type BandDraft = Draft<BandTexts> & { readonly key: number }
export type MethodDraft = Draft<Omit<MethodTexts, 'countries' | 'zones' | 'bands'>> &
  CountryChoices & { zones: Signal<readonly ZoneDraft[]>; bands: Signal<readonly BandDraft[]> }

let lastKey = 0
const createCountryChoices = (codes: readonly string[]): CountryChoices => ({ countries: signal(codes.map(countryChoice)) })

/** Creates the fields of a zone, with a key for its row. */
export const zoneDraft = ({ countries, ...texts }: ZoneTexts): ZoneDraft => ({
  ...createDraft(texts),
  ...createCountryChoices(countries),
  key: ++lastKey,
})
/** Creates the fields of a price band, with a key for its row. */
export const bandDraft = (texts: BandTexts): BandDraft => ({ ...createDraft(texts), key: ++lastKey })

/** Creates the fields of a method with its zones and bands. */
export const methodDraft = ({ countries, zones, bands, ...texts }: MethodTexts): MethodDraft => ({
  ...createDraft(texts),
  ...createCountryChoices(countries),
  zones: signal(zones.map(zoneDraft)),
  bands: signal(bands.map(bandDraft)),
})

const codesOf = ({ countries }: CountryChoices) => countries.value.map(({ id }) => id)

/** Returns the form's values. */
export function readMethodDraft({ countries, zones, bands, ...texts }: MethodDraft): MethodTexts {
  return {
    ...draftValues<Omit<MethodTexts, 'countries' | 'zones' | 'bands'>>(texts),
    countries: codesOf({ countries }),
    zones: zones.value.map(({ rest, provinces, ...zone }) => ({ rest: rest.value, countries: codesOf(zone), provinces: provinces.value })),
    bands: bands.value.map(({ upTo, amount }) => ({ upTo: upTo.value, amount: amount.value })),
  }
}
