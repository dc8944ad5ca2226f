import { common } from '../lib/i18n/common.ts'
import { Dialog } from '../ui/dialog.tsx'
import { t } from './palette-texts/i18n.ts'

/** Keys as they are printed on keyboards, and what they do. */
const shortcuts = () =>
  [
    [['Ctrl', 'K'], t('shortcut.palette')],
    [['?'], t('shortcuts')],
    [['↑', '↓'], t('shortcut.choose')],
    [['Enter'], t('shortcut.open')],
    [['Esc'], t('shortcut.close')],
    [['←', '↑', '→', '↓'], t('shortcut.move')],
  ] as const

/** The list of keyboard shortcuts. */
export const Shortcuts = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={t('shortcuts')} onClose={onClose}>
    <table class="shortcuts">
      <caption class="unseen">{t('shortcuts')}</caption>
      <thead class="unseen">
        <tr>
          <th scope="col">{t('shortcutKeys')}</th>
          <th scope="col">{common('actions')}</th>
        </tr>
      </thead>
      <tbody>
        {shortcuts().map(([keys, text]) => (
          <tr key={text}>
            <td dir="ltr">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </td>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </Dialog>
)
