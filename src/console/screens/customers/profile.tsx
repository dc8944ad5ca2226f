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

export const ProfileFields = ({ of: { email, name, phone, acceptsMarketing } }: { of: Draft<Profile> }) => (
  <>
    <TextField bind={email} name="email" label={common('email')} type="email" required max={254} />
    <TextField bind={name} label={common('name')} max={200} />
    <TextField bind={phone} name="phone" label={common('address.phone')} type="tel" max={40} />
    <CheckField bind={acceptsMarketing} label={t('acceptsMarketing')} hint={t('acceptsMarketingHint')} />
  </>
)

export const CustomerFacts = ({ of }: { of: Customer }) => (
  <Section title={t('facts')}>
    <FactList
      of={[
        [
          common('email'),
          of.erasedAt ? null : (
            <>
              <bdi>{of.email}</bdi>{' '}
              <StatusBadge of={of.emailVerified ? 'OK' : 'NO'} text={of.emailVerified ? t('verified') : t('unverified')} />
            </>
          ),
        ],
        [common('address.phone'), of.phone && <bdi dir="ltr">{of.phone}</bdi>],
        [t('marketing'), of.acceptsMarketing ? t('marketingYes') : t('marketingNo')],
        [common('note'), of.note && <bdi class="note-text">{of.note}</bdi>],
        [common('tags'), of.tags.length > 0 && <bdi>{of.tags.join(', ')}</bdi>],
        [common('orders'), number(of.ordersCount)],
        [t('spent'), <Money key="spent" of={of.totalSpent} />],
        [t('since'), <Moment key="since" at={of.createdAt} />],
      ]}
    />
  </Section>
)
