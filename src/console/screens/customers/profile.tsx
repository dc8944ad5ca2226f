import type { Schema } from '../../lib/api/api.ts'
import { number } from '../../lib/format/format.ts'
import type { Draft } from '../../lib/forms/draft.ts'
import { common } from '../../lib/i18n/common.ts'
import { FactList } from '../../ui/fact-list.tsx'
import { CheckField, TextField } from '../../ui/fields.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Money } from '../../ui/money.tsx'
import { Section } from '../../ui/page.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { t } from './i18n.ts'

type Customer = Schema<'Customer'>

export const emptyProfile = { email: '', name: '', phone: '', acceptsMarketing: false }
type Profile = typeof emptyProfile

/** Returns the profile as the API takes it. */
export const profileBody = ({ email, name, phone, ...rest }: Profile) => ({
  ...rest,
  email: email.trim(),
  name: name.trim(),
  phone: phone.trim() || null,
})

export const ProfileFields = ({ fields: { email, name, phone, acceptsMarketing } }: { fields: Draft<Profile> }) => (
  <>
    <TextField bind={email} name="email" label={common('email')} type="email" required max={254} />
    <TextField bind={name} label={common('name')} max={200} />
    <TextField bind={phone} name="phone" label={common('address.phone')} type="tel" max={40} />
    <CheckField bind={acceptsMarketing} label={t('acceptsMarketing')} hint={t('acceptsMarketingHint')} />
  </>
)

export const CustomerFacts = ({ customer }: { customer: Customer }) => (
  <Section title={t('facts')}>
    <FactList
      facts={[
        [
          common('email'),
          customer.erasedAt ? null : (
            <>
              <bdi>{customer.email}</bdi>{' '}
              <StatusBadge status={customer.emailVerified ? 'OK' : 'NO'} text={customer.emailVerified ? t('verified') : t('unverified')} />
            </>
          ),
        ],
        [common('address.phone'), customer.phone && <bdi dir="ltr">{customer.phone}</bdi>],
        [t('marketing'), customer.acceptsMarketing ? t('marketingYes') : t('marketingNo')],
        [common('note'), customer.note && <bdi class="note-text">{customer.note}</bdi>],
        [common('tags'), customer.tags.length > 0 && <bdi>{customer.tags.join(', ')}</bdi>],
        [common('orders'), number(customer.ordersCount)],
        [t('spent'), <Money key="spent" amount={customer.totalSpent} />],
        [t('since'), <Moment key="since" at={customer.createdAt} />],
      ]}
    />
  </Section>
)
