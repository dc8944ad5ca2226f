import { describe, expect, test } from 'bun:test'
import { localProvinceNames } from '../../src/lib/province-names.ts'
import { isUnknownProvince, noProvinces, provinceCodes } from '../../src/lib/provinces.ts'
import { loadProvinceTable } from '../../src/modules/shop/countries/domain.ts'

const table = await loadProvinceTable()

describe('provinces', () => {
  test.each([
    ['JP', '13', ['東京都', '東京', 'Tokyo', 'Tōkyō', 'TOKYO', '13', 'JP-13', 'jp-13']],
    ['DE', 'BY', ['Bayern', 'bavaria', 'Freistaat Bayern', 'BY', 'DE-BY']],
    ['DE', 'TH', ['Thüringen', 'Thuringen', 'Thuringia']],
    ['RU', 'MOW', ['Москва', 'москва', 'Moscow']],
    ['RU', 'MOS', ['Московская область', 'Московская обл.']],
    ['FR', 'IDF', ['Île-de-France', 'ile de france', 'IDF']],
    ['ES', 'CT', ['Cataluña', 'Catalunya', 'Catalonia']],
    ['IT', '52', ['Toscana', 'Tuscany']],
    ['CN', 'GD', ['广东省', '广东', '廣東', '廣東省', 'Guangdong']],
    ['CN', 'NM', ['内蒙古', 'Inner Mongolia', 'CN-NM']],
    ['KR', '11', ['서울특별시', '서울', 'Seoul']],
    ['TH', '10', ['กรุงเทพมหานคร', 'Bangkok']],
    ['UA', '30', ['Київ', 'Kyiv']],
    ['AE', 'DU', ['دبي', 'إمارة دبي', 'Dubai', 'DU']],
    ['SA', '01', ['الرياض', 'منطقة الرياض', 'Riyadh']],
    ['KW', 'KU', ['العاصمة', 'محافظة العاصمة', 'Al Asimah']],
    ['EG', 'C', ['القاهرة', 'Cairo']],
    ['QA', 'DA', ['الدوحة', 'بلدية الدوحة', 'Doha']],
    ['OM', 'MA', ['مسقط', 'محافظة مسقط', 'Muscat']],
    ['JO', 'AM', ['عمان', 'العاصمة', 'Amman']],
    ['JO', 'IR', ['إربد', 'اربد', 'Irbid']],
    ['IN', 'MH', ['महाराष्ट्र', 'Maharashtra', 'IN-MH']],
    ['IN', 'TN', ['தமிழ்நாடு', 'तमिलनाडु', 'Tamil Nadu']],
    ['IN', 'CG', ['CG', 'CT', 'IN-CG', 'Chhattisgarh', 'छत्तीसगढ़']],
    ['IN', 'DL', ['दिल्ली', 'New Delhi', 'Delhi']],
    ['FI', '18', ['Nyland', 'Uusimaa']],
    ['GE', 'TB', ['თბილისი', 'Tbilisi']],
    ['CO', 'DC', ['Bogotá', 'Bogotá, D.C.', 'Distrito Capital de Bogotá']],
    ['AR', 'C', ['CABA', 'Capital Federal']],
    ['ID', 'JK', ['DKI Jakarta', 'Jakarta']],
    ['BY', 'HM', ['Минск', 'Мінск']],
    ['BG', '22', ['София', 'Sofia']],
    ['GR', 'I', ['Αττική', 'Attica']],
    ['MX', 'CMX', ['CDMX', 'Ciudad de México', 'Mexico City', 'DIF']],
    ['IE', 'D', ['Dublin', 'County Dublin', 'Co. Dublin']],
    ['US', 'AE', ['AE', 'Armed Forces Europe']],
    ['MN', '1', ['Улаанбаатар', 'Ulaanbaatar', 'MN-1']],
    ['BR', 'SP', ['São Paulo', 'Sao Paulo', 'SP']],
    ['CA', 'QC', ['Québec', 'quebec', 'QC', 'CA-QC']],
    ['CA', 'NS', ['Nouvelle-Écosse', 'Nova Scotia']],
    ['PL', '10', ['Łódzkie', 'lodzkie']],
    ['US', 'CA', ['California', 'CA', 'us-ca', 'US CA']],
    ['JP', '13', ['Tokyo-to', 'Tōkyō-to', 'TOKYO TO']],
    ['JP', '27', ['Osaka-fu', 'Osaka Prefecture']],
    ['JP', '12', ['Chiba-ken', 'chiba ken']],
    ['RU', 'MOW', ['г. Москва', 'г.Москва', 'город Москва', 'Moscow City']],
    ['RU', 'MOS', ['Московская Обл']],
    ['RU', 'TA', ['Респ. Татарстан', 'Респ Татарстан']],
    ['UA', '30', ['м. Київ', 'місто Київ', 'Kyiv City']],
    ['VN', 'SG', ['TP. Hồ Chí Minh', 'TP.HCM', 'Thành phố Hồ Chí Minh', 'Sài Gòn', 'Saigon', 'Ho Chi Minh City']],
    ['VN', 'HN', ['TP Hà Nội', 'Hanoi City']],
    ['VN', '56', ['Tỉnh Bắc Ninh']],
    ['DE', 'BW', ['Baden-Wuerttemberg', 'BADEN WUERTTEMBERG', 'Baden-Württemberg']],
    ['DE', 'TH', ['Thueringen']],
    ['AT', '2', ['Kaernten']],
    ['AT', '4', ['Oberoesterreich']],
    ['CH', 'ZH', ['Zuerich', 'Zürich']],
    ['CH', 'GR', ['Graubuenden']],
    ['SE', 'M', ['Skaane laen']],
    ['IR', '07', ['تهران', 'استان تهران', 'Tehran Province']],
    ['IR', '15', ['کرمان', 'كرمان']],
    ['PK', 'PB', ['پنجاب', 'Punjab Province']],
    ['PK', 'IS', ['اسلام آباد']],
    ['NP', 'P3', ['बागमती', 'बागमती प्रदेश', 'Bagmati Province']],
    ['NP', 'P5', ['लुम्बिनी प्रदेश']],
    ['BD', '13', ['ঢাকা', 'ঢাকা জেলা', 'Dhaka District']],
    ['BD', 'C', ['ঢাকা বিভাগ', 'Dhaka Division']],
    ['LK', '1', ['බස්නාහිර පළාත', 'බස්නාහිර', 'Western Province']],
    ['LK', '11', ['කොළඹ', 'Colombo District']],
    ['KZ', '75', ['Алматы', 'г. Алматы', 'Алматы қаласы', 'Almaty City']],
    ['KZ', '19', ['Алматы облысы', 'Алматинская область', 'Алматинская обл.']],
    ['MA', '06', ['الدار البيضاء سطات', 'جهة الدار البيضاء - سطات']],
    ['MA', 'CAS', ['الدار البيضاء', 'عمالة الدار البيضاء']],
    ['IL', 'TA', ['תל אביב', 'מחוז תל אביב', 'تل أبيب', 'Tel Aviv']],
    ['IL', 'JM', ['ירושלים', 'القدس', 'Jerusalem']],
    ['DK', '84', ['Hovedstaden', 'Region Hovedstaden', 'DK-84']],
    ['DK', '82', ['Midtjylland', 'Region Midtjylland']],
    ['CZ', '10', ['Praha', 'Prague']],
    ['PT', '20', ['Açores', 'Azores']],
    ['CA', 'NL', ['Newfoundland', 'Newfoundland and Labrador']],
    ['DE', 'NW', ['NRW', 'Nordrhein-Westfalen']],
    ['HU', 'PE', ['Pest', 'Pest vármegye', 'Pest megye']],
    ['PL', '14', ['województwo mazowieckie', 'woj. mazowieckie', 'Mazowieckie']],
    ['MX', 'MEX', ['Estado de México', 'México']],
  ])('resolves local names, English names and codes of provinces: %s-%s', (country, code, names) => {
    for (const name of names) expect([name, provinceCodes(table, country, name)]).toEqual([name, [code]])
  })

  test('resolves every local province name to a code of its country, and no name has a separator of the table', () => {
    for (const { country, code, name } of localProvinceNames()) {
      expect([country, code]).toEqual([expect.stringMatching(/^[A-Z]{2}$/), expect.stringMatching(/^[A-Z0-9]{1,3}$/)])
      // The former code of Corsica has the name, too.
      expect([name, provinceCodes(table, country, name)]).toEqual([name, name === 'Corsica' ? ['COR', code] : [code]])
      expect([code, provinceCodes(table, country, `${country}-${code}`)]).toEqual([code, [code]])
      expect(name).not.toMatch(/[|;=\n]/)
    }
  })

  test('distinguishes an unknown province from none, and from those of a country without a list', () => {
    const unknown = (countryCode: string, province: string | null) => isUnknownProvince(table, { countryCode, province })
    for (const province of ['Calif.', 'XX', '東京都', 'CA-CA']) expect([province, unknown('US', province)]).toEqual([province, true])
    expect(unknown('US', 'CA')).toBe(false)
    expect(unknown('US', null)).toBe(false)
    expect(unknown('ZZ', 'XX')).toBe(false)
    // Words that are added to names are no names.
    for (const [countryCode, province] of [
      ['JP', 'to'],
      ['RU', 'г.'],
      ['VN', 'Tỉnh'],
      ['DE', 'Province'],
    ] as const)
      expect([province, unknown(countryCode, province)]).toEqual([province, true])
    expect(isUnknownProvince(noProvinces, { countryCode: 'US', province: 'XX' })).toBe(false)
  })
})
