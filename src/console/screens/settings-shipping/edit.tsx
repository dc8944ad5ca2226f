import { useMemo } from 'preact/hooks'
import { findCountries } from '../../lib/format/locale-lists.ts'
import { parseMoney } from '../../lib/forms/amounts.ts'
import { common, invalidAmountText } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { MoneyField, NumberField, SelectField, TagsField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/page.tsx'
import { PickField } from '../../ui/picker.tsx'
import { bandDraft, type MethodDraft, methodDraft, readMethodDraft, type ZoneDraft, zoneDraft } from './draft.ts'
import { t } from './i18n.ts'
import { codeMax, type Method, type MethodTexts, newMethod, parseMethod, textsOfMethod } from './methods.domain.ts'
import { ShippingPreview } from './preview.tsx'

const countriesMax = 249

/** A shipping method with a preview of all methods. */
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
  const initial = useMemo(() => (method ? textsOfMethod(method) : newMethod), [])
  const draft = useMemo(() => methodDraft(initial), [])
  // Compared in the form's own representation.
  const initialJson = useMemo(() => JSON.stringify(readMethodDraft(draft)), [])
  const input = readMethodDraft(draft)
  const result = parseMethod(input, currency)
  function submit(): Promise<void> {
    if ('method' in result) return save(result.method)
    const { field, bandIndex, problem } = result.error
    throw new Error(
      `${bandIndex === undefined ? t(field) : `${t('band', { n: bandIndex + 1 })}, ${t(field)}`}: ${problem === 'notAmount' ? invalidAmountText(currency) : common(problem)}`,
    )
  }
  return (
    <>
      <Form
        onSubmit={submit}
        dirty={JSON.stringify(input) !== initialJson}
        label={t('method')}
        actions={onRemove && <Button kind="danger" onPress={onRemove} text={common('remove')} />}
      >
        <Section title={t('method')}>
          <div class="fields">
            <TextField bind={draft.title} label={common('name')} hint={t('methodTitleHint')} max={200} required />
            <TextField
              bind={draft.code}
              label={common('code')}
              hint={t(method ? 'codeFixed' : 'codeHint')}
              max={codeMax}
              disabled={method !== undefined}
              code
            />
            <SelectField
              bind={draft.form}
              label={t('pricing')}
              options={[
                ['flat', t('flat')],
                ['zoned', t('zoned')],
              ]}
            />
          </div>
          {input.form === 'flat' && <FlatFields draft={draft} input={input} currency={currency} />}
        </Section>
        {input.form === 'zoned' && (
          <>
            <ZonesSection draft={draft} />
            <BandsSection draft={draft} currency={currency} />
          </>
        )}
      </Form>
      {'method' in result && <ShippingPreview methods={others(result.method)} currency={currency} />}
    </>
  )
}

const amountError = (text: string, currency: string): string | undefined =>
  text.trim() !== '' && !parseMoney(text, currency) ? invalidAmountText(currency) : undefined

function FlatFields({ draft, input, currency }: { draft: MethodDraft; input: MethodTexts; currency: string }) {
  return (
    <>
      <MoneyField bind={draft.price} currency={currency} label={t('price')} error={amountError(input.price, currency)} required />
      <PickField bind={draft.countries} label={t('countries')} find={findCountries} max={countriesMax} hint={t('countriesHint')} />
    </>
  )
}

function ZonesSection({ draft: { zones } }: { draft: MethodDraft }) {
  return (
    <Section title={t('zones')} hint={t('zonesHint')}>
      {zones.value.map((zone, index) => (
        <fieldset key={zone.key} class="method">
          <legend>{t('zone', { n: index + 1 })}</legend>
          <ZoneFields zone={zone} />
          {zones.value.length > 1 && (
            <Button
              icon="close"
              onPress={() => (zones.value = zones.value.filter((other) => other !== zone))}
              text={t('removeZone', { n: index + 1 })}
            />
          )}
        </fieldset>
      ))}
      {zones.value.length < 50 && (
        <div class="row">
          <Button
            icon="plus"
            onPress={() => (zones.value = [...zones.value, zoneDraft({ rest: 'some', countries: [], provinces: [] })])}
            text={t('addZone')}
          />
        </div>
      )}
    </Section>
  )
}

const ZoneFields = ({ zone: { rest, countries, provinces } }: { zone: ZoneDraft }) => (
  <div class="stack">
    <SelectField
      bind={rest}
      label={t('where')}
      options={[
        ['some', t('some')],
        ['rest', t('rest')],
      ]}
    />
    {rest.value === 'some' && (
      <PickField bind={countries} label={t('countries')} find={findCountries} max={countriesMax} hint={common('pickHint')} />
    )}
    {rest.value === 'some' && countries.value.length === 1 && (
      <TagsField bind={provinces} label={t('provinces')} hint={t('provincesHint')} max={250} />
    )}
  </div>
)

function BandsSection({ draft: { measure, bands, freeOver }, currency }: { draft: MethodDraft; currency: string }) {
  const isBounded = measure.value !== 'none'
  const shownBands = isBounded ? bands.value : bands.value.slice(0, 1)
  return (
    <Section title={t('costs')} hint={isBounded ? t('bandsHint') : undefined}>
      <SelectField
        bind={measure}
        label={t('measure')}
        options={[
          ['none', t('flat')],
          ['grams', t('measureGrams')],
          ['amount', t('measureAmount')],
        ]}
      />
      {shownBands.map((band, index) => (
        <fieldset key={band.key} class="method">
          <legend class={isBounded ? undefined : 'unseen'}>{t('band', { n: index + 1 })}</legend>
          <div class="fields">
            {measure.value === 'grams' && (
              <NumberField bind={band.upTo} label={t('upToGrams')} hint={index === shownBands.length - 1 ? t('lastHint') : undefined} />
            )}
            {measure.value === 'amount' && (
              <MoneyField
                bind={band.upTo}
                currency={currency}
                label={t('upTo')}
                hint={index === shownBands.length - 1 ? t('lastHint') : undefined}
                error={amountError(band.upTo.value, currency)}
              />
            )}
            <MoneyField
              bind={band.amount}
              currency={currency}
              label={t('amount')}
              error={amountError(band.amount.value, currency)}
              required
            />
          </div>
          {isBounded && bands.value.length > 1 && (
            <Button
              icon="close"
              onPress={() => (bands.value = bands.value.filter((other) => other !== band))}
              text={t('removeBand', { n: index + 1 })}
            />
          )}
        </fieldset>
      ))}
      {isBounded && bands.value.length < 50 && (
        <div class="row">
          <Button icon="plus" onPress={() => (bands.value = [...bands.value, bandDraft({ upTo: '', amount: '' })])} text={t('addBand')} />
        </div>
      )}
      <MoneyField
        bind={freeOver}
        currency={currency}
        label={t('freeOver')}
        hint={t('freeOverHint')}
        error={amountError(freeOver.value, currency)}
      />
    </Section>
  )
}
