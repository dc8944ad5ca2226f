import type { Signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { common } from '../../lib/i18n/common.ts'
import { Button } from '../../ui/button.tsx'
import { t } from './i18n.ts'
import { blankWallet, type WalletRow } from './registry.domain.ts'

/** The wallets of an attester, each with its validity. */
export function WalletsField({ bind }: { bind: Signal<readonly WalletRow[]> }) {
  const id = useId()
  const change = (index: number, change: Partial<WalletRow>) => {
    bind.value = bind.value.map((row, rowIndex) => (rowIndex === index ? { ...row, ...change } : row))
  }
  return (
    <fieldset class="field">
      <legend>{t('wallets')}</legend>
      <p class="hint">{t('walletsHint')}</p>
      {bind.value.map((row, index) => (
        <div key={index} class="wallet">
          <div class="field">
            <label for={`${id}-${index}`}>{t('addressNr', { n: index + 1 })}</label>
            <input
              id={`${id}-${index}`}
              dir="ltr"
              class="code"
              autoComplete="off"
              spellcheck={false}
              placeholder="0x…"
              maxLength={42}
              value={row.address}
              onInput={({ currentTarget: { value } }) => change(index, { address: value })}
            />
          </div>
          {(['from', 'to'] as const).map((end) => (
            <div key={end} class="field">
              <label for={`${id}-${index}-${end}`}>{t(end === 'from' ? 'fromNr' : 'toNr', { n: index + 1 })}</label>
              <input
                id={`${id}-${index}-${end}`}
                type="datetime-local"
                value={row[end]}
                onInput={({ currentTarget: { value } }) => change(index, { [end]: value })}
              />
            </div>
          ))}
          <Button
            kind="quiet"
            icon="close"
            label={`${common('remove')}: ${t('addressNr', { n: index + 1 })}`}
            onPress={() => (bind.value = bind.value.filter((_, rowIndex) => rowIndex !== index))}
          />
        </div>
      ))}
      <div class="row">
        <Button icon="plus" onPress={() => (bind.value = [...bind.value, blankWallet])} text={t('addWallet')} />
      </div>
    </fieldset>
  )
}
