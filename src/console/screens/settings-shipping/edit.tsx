import { useMemo } from 'preact/hooks'
import { findCountries } from '../../lib/format/locale-lists.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'
import { c, notAmount } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { MoneyField, NumberField, SelectField, TagsField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { PickField } from '../../ui/picker.tsx'
import { bandDraft, type MethodDraft, methodDraft, typedIn, type ZoneDraft, zoneDraft } from './draft.ts'
import { w } from './i18n.ts'
import { type Method, type MethodTexts, methodOf, newMethod, textsOfMethod } from './methods.domain.ts'
import { Preview } from './preview.tsx'

const countriesMax = 249

/** One method: where it goes and what it costs, with what a cart would see of it beside the others. */
export function MethodForm({
  method,
  others,
  currency,
  save,
  onRemove,
}: {
  method: Method | undefined
  others: (method: Method) => readonly Method[]
  currency: string
  save: (method: Method) => Promise<void>
  onRemove: (() => Promise<void>) | undefined
}) {
  const begun = useMemo(() => (method ? textsOfMethod(method) : newMethod), [])
  const draft = useMemo(() => methodDraft(begun), [])
  // As the form tells it: what is typed is compared with that.
  const untouched = useMemo(() => JSON.stringify(typedIn(draft)), [])
  const typed = typedIn(draft)
  const made = methodOf(typed, currency)
  function submit(): Promise<void> {
    if ('method' in made) return save(made.method)
    const { field, at, is } = made.wrong
    throw new Error(`${at === undefined ? w(field) : `${w('band', { n: at + 1 })}, ${w(field)}`}: ${c(is, { currency })}`)
  }
  return (
    <>
      <Form
        onSubmit={submit}
        dirty={JSON.stringify(typed) !== untouched}
        label={w('method')}
        actions={
          onRemove && (
            <Button kind="danger" onPress={onRemove}>
              {c('remove')}
            </Button>
          )
        }
      >
        <Section title={w('method')}>
          <div class="fields">
            <TextField bind={draft.title} label={w('methodTitle')} hint={w('methodTitleHint')} max={200} required />
            <TextField bind={draft.code} label={w('code')} hint={w('codeHint')} max={50} required code />
            <SelectField
              bind={draft.form}
              label={w('form')}
              options={[
                ['flat', w('flat')],
                ['zoned', w('zoned')],
              ]}
            />
          </div>
          {typed.form === 'flat' && <Flat draft={draft} typed={typed} currency={currency} />}
        </Section>
        {typed.form === 'zoned' && (
          <>
            <Zones draft={draft} />
            <Bands draft={draft} currency={currency} />
          </>
        )}
      </Form>
      {'method' in made && <Preview methods={others(made.method)} currency={currency} />}
    </>
  )
}

const amountError = (text: string, currency: string): string | undefined =>
  text.trim() !== '' && !parseMoney(text, currency) ? notAmount(currency) : undefined

function Flat({ draft, typed, currency }: { draft: MethodDraft; typed: MethodTexts; currency: string }) {
  return (
    <>
      <MoneyField bind={draft.price} currency={currency} label={w('price')} error={amountError(typed.price, currency)} required />
      <PickField bind={draft.countries} label={w('countries')} find={findCountries} max={countriesMax} hint={w('countriesHint')} />
    </>
  )
}

function Zones({ draft: { zones } }: { draft: MethodDraft }) {
  return (
    <Section title={w('zones')} hint={w('zonesHint')}>
      {zones.value.map((zone, at) => (
        <fieldset key={zone.key} class="method">
          <legend>{w('zone', { n: at + 1 })}</legend>
          <Zone zone={zone} />
          {zones.value.length > 1 && (
            <Button
              icon="close"
              onPress={() => {
                zones.value = zones.value.filter((one) => one !== zone)
              }}
            >
              {w('removeZone', { n: at + 1 })}
            </Button>
          )}
        </fieldset>
      ))}
      {zones.value.length < 50 && (
        <div class="row">
          <Button
            icon="plus"
            onPress={() => {
              zones.value = [...zones.value, zoneDraft({ rest: 'some', countries: [], provinces: [] })]
            }}
          >
            {w('addZone')}
          </Button>
        </div>
      )}
    </Section>
  )
}

const Zone = ({ zone: { rest, countries, provinces } }: { zone: ZoneDraft }) => (
  <div class="stack">
    <SelectField
      bind={rest}
      label={w('where')}
      options={[
        ['some', w('some')],
        ['rest', w('rest')],
      ]}
    />
    {rest.value === 'some' && (
      <PickField bind={countries} label={w('countries')} find={findCountries} max={countriesMax} hint={c('pickHint')} />
    )}
    {rest.value === 'some' && countries.value.length === 1 && (
      <TagsField bind={provinces} label={w('provinces')} hint={w('provincesHint')} max={250} />
    )}
  </div>
)

function Bands({ draft: { measure, bands, freeOver }, currency }: { draft: MethodDraft; currency: string }) {
  const isBounded = measure.value !== 'none'
  const shown = isBounded ? bands.value : bands.value.slice(0, 1)
  return (
    <Section title={w('costs')} hint={isBounded ? w('bandsHint') : undefined}>
      <SelectField
        bind={measure}
        label={w('measure')}
        options={[
          ['none', w('measureNone')],
          ['grams', w('measureGrams')],
          ['amount', w('measureAmount')],
        ]}
      />
      {shown.map((band, at) => (
        <fieldset key={band.key} class="method">
          <legend class={isBounded ? undefined : 'unseen'}>{w('band', { n: at + 1 })}</legend>
          <div class="fields">
            {measure.value === 'grams' && (
              <NumberField bind={band.upTo} label={w('upToGrams')} hint={at === shown.length - 1 ? w('lastHint') : undefined} />
            )}
            {measure.value === 'amount' && (
              <MoneyField
                bind={band.upTo}
                currency={currency}
                label={w('upTo')}
                hint={at === shown.length - 1 ? w('lastHint') : undefined}
                error={amountError(band.upTo.value, currency)}
              />
            )}
            <MoneyField
              bind={band.amount}
              currency={currency}
              label={w('amount')}
              error={amountError(band.amount.value, currency)}
              required
            />
          </div>
          {isBounded && bands.value.length > 1 && (
            <Button
              icon="close"
              onPress={() => {
                bands.value = bands.value.filter((one) => one !== band)
              }}
            >
              {w('removeBand', { n: at + 1 })}
            </Button>
          )}
        </fieldset>
      ))}
      {isBounded && bands.value.length < 50 && (
        <div class="row">
          <Button
            icon="plus"
            onPress={() => {
              bands.value = [...bands.value, bandDraft({ upTo: '', amount: '' })]
            }}
          >
            {w('addBand')}
          </Button>
        </div>
      )}
      <MoneyField
        bind={freeOver}
        currency={currency}
        label={w('freeOver')}
        hint={w('freeOverHint')}
        error={amountError(freeOver.value, currency)}
      />
    </Section>
  )
}
