import { useSignal } from '@preact/signals'
import { api, ok, type Schema } from '../../lib/api.ts'
import { countryOptions } from '../../lib/countries.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { country } from '../../lib/format.ts'
import { useIntention } from '../../lib/intention.ts'
import { useResource } from '../../lib/resource.ts'
import { mayManage } from '../../lib/shop.ts'
import { c } from '../../lib/words/common.ts'
import { State } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Loaded, Section } from '../../ui/page.tsx'
import { notify } from '../../ui/toast.tsx'
import { bodyOfAddress, emptyAddress } from './address.domain.ts'
import { w } from './words.ts'

const shownFirst = 6

/** Their address book, the newest first; some are read at a time. */
export function Addresses({ of, onChanged }: { of: Schema<'Customer'>; onChanged: () => unknown }) {
  const many = useSignal(shownFirst)
  const isAdding = useSignal(false)
  const ids = [...of.addressIds].reverse().slice(0, many.value)
  const addresses = useResource(ids.join(' '), (signal) =>
    Promise.all(ids.map((id) => ok(api.GET('/addresses/{id}', { params: { path: { id } }, signal })))),
  )
  return (
    <Section
      title={w('addresses')}
      actions={
        mayManage.value && (
          <Button
            icon="plus"
            onPress={() => {
              isAdding.value = true
            }}
          >
            {c('add')}
          </Button>
        )
      }
    >
      <Loaded of={addresses} lines={2}>
        {(shown) =>
          shown.length === 0 ? (
            <p class="hint">{w('noAddresses')}</p>
          ) : (
            <ul class="stack">
              {shown.map((one) => (
                <li key={one.id}>
                  <Address of={one} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {of.addressIds.length > many.value && (
        <Button
          kind="quiet"
          onPress={() => {
            many.value += 20
          }}
        >
          {c('more')}
        </Button>
      )}
      {isAdding.value && (
        <FormDialog
          title={w('addAddress')}
          onClose={() => {
            isAdding.value = false
          }}
        >
          <NewAddress
            of={of}
            onMade={() => {
              isAdding.value = false
              return onChanged()
            }}
          />
        </FormDialog>
      )}
    </Section>
  )
}

function Address({ of }: { of: Schema<'Address'> }) {
  const { name, company, line1, line2, postalCode, city, province, countryCode, phone } = of
  const lines = [name, company, line1, line2, [postalCode, city].filter(Boolean).join(' '), province, country(countryCode), phone]
  return (
    <address>
      {lines.filter(Boolean).map((line, place) => (
        // Two lines may say the same.
        <div key={place}>
          <bdi>{line}</bdi>
        </div>
      ))}
      <div class="row">
        {of.isDefaultShipping && <State of="DEFAULT" text={w('defaultShipping')} />}
        {of.isDefaultBilling && <State of="DEFAULT" text={w('defaultBilling')} />}
      </div>
    </address>
  )
}

function NewAddress({ of, onMade }: { of: Schema<'Customer'>; onMade: () => unknown }) {
  const once = useIntention()
  const draft = useDraft(of.id, { ...emptyAddress, name: of.name, isDefaultShipping: of.addressIds.length === 0, isDefaultBilling: false })
  const field = draft.of
  async function create() {
    const typed = draft.now()
    if (typed.countryCode === '') throw new Error(w('countryNeeded'))
    const body = bodyOfAddress(typed)
    await once(body, (key) =>
      ok(
        api.POST('/customer/{customerId}/addresses', { params: { path: { customerId: of.id }, header: { 'idempotency-key': key } }, body }),
      ),
    )
    draft.reset(typed)
    notify(c('saved'))
    await onMade()
  }
  return (
    <Form onSubmit={create} dirty={draft.dirty} label={w('addAddress')}>
      <TextField bind={field.name} label={w('name')} required max={200} />
      <TextField bind={field.company} label={w('company')} max={200} />
      <TextField bind={field.line1} label={w('line1')} required max={200} />
      <TextField bind={field.line2} label={w('line2')} max={200} />
      <div class="fields">
        <TextField bind={field.postalCode} label={w('postalCode')} max={20} />
        <TextField bind={field.city} label={w('city')} required max={100} />
        <TextField bind={field.province} label={w('province')} max={100} />
        <SelectField bind={field.countryCode} label={w('country')} options={[['', '–'], ...countryOptions()]} />
      </div>
      <TextField bind={field.phone} label={w('phone')} type="tel" max={40} />
      <CheckField bind={field.isDefaultShipping} label={w('defaultShipping')} />
      <CheckField bind={field.isDefaultBilling} label={w('defaultBilling')} />
    </Form>
  )
}
