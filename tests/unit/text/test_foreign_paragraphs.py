"""Paragraphs in other languages, and English ones that must not be mistaken for them."""

# ruff: noqa: E501, RUF001  (a paragraph is one line, in its own script)

from __future__ import annotations

import pytest
from processor_time import grows_linearly

from disambig.api.text import begins_gerund_subject
from disambig.text import (
    LANGUAGE_NAMES,
    NO_LANGUAGE,
    describe_foreign,
    find_foreign_paragraphs,
    foreign_to_all,
)

FOREIGN = {
    "de": """
        Das ist nicht gut.
        Bitte lesen Sie zuerst die Anleitung.
        Der Server wird neu gestartet.
        Wie kann ich das Passwort ändern?
        Installation unter Windows und Linux
        Die Datei wurde nicht gefunden oder ist leer.
        Um das Programm zu starten, geben Sie den Befehl ein und warten Sie, bis die Meldung erscheint.
        Dieses Kapitel beschreibt, wie man mit Git einen neuen Branch anlegt und ihn auf GitHub veröffentlicht.
        Wir haben die Bibliothek vor drei Jahren geschrieben, weil es damals noch keine Lösung für dieses Problem gab, die auch auf kleinen Geräten lief. Seitdem ist viel passiert, und der Code wurde mehrmals von Grund auf erneuert.
        Beim Start liest der Docker-Container die Variable aus der Umgebung; fehlt sie, so bricht er mit einem Fehler ab.
        Am Abend gingen wir noch einmal hinunter an den Fluss, wo die Boote lagen.
    """,
    "fr": """
        Ce n'est pas possible.
        Comment ça marche ?
        Le serveur est arrêté.
        Veuillez lire la documentation avant de commencer.
        Les fichiers sont dans le dossier du projet.
        Pour installer le paquet, tapez la commande suivante dans un terminal.
        Cette fonction renvoie la liste des utilisateurs qui ont accès au dépôt.
        Nous avons écrit cette bibliothèque il y a trois ans, parce qu'aucun outil ne permettait de lire ces fichiers sans les charger en mémoire. Depuis, beaucoup de choses ont changé et le code a été réécrit plusieurs fois.
        Il fait froid, et la rivière est gelée depuis hier.
        Si vous utilisez Docker, il faut d'abord créer un volume pour les données de PostgreSQL.
        Qu'est-ce que c'est que cette erreur dans les logs ?
    """,
    "es": """
        Esto no es un error.
        ¿Cómo puedo cambiar la contraseña?
        El archivo no existe.
        Lea primero las instrucciones de uso.
        Todos los datos se guardan en la carpeta del proyecto.
        Para instalar el paquete, escriba la siguiente orden en una terminal.
        Este capítulo explica cómo crear una rama nueva con Git y publicarla en GitHub.
        Escribimos esta biblioteca hace tres años porque no había ninguna herramienta que leyera estos ficheros sin cargarlos en la memoria. Desde entonces han cambiado muchas cosas, y el código se ha escrito de nuevo varias veces.
        La casa está al otro lado del río.
        Si usa Docker, cree antes un volumen para los datos de PostgreSQL.
        No sé qué hacer con esta función.
    """,
    "it": """
        Questo non è un errore.
        Come posso cambiare la password?
        Il file non esiste.
        Leggere prima le istruzioni per l'uso.
        Tutti i dati sono nella cartella del progetto.
        Per installare il pacchetto, scrivere il comando seguente nel terminale.
        Questo capitolo spiega come si crea un nuovo ramo con Git e come lo si pubblica su GitHub.
        Abbiamo scritto questa libreria tre anni fa, perché non c'era nessuno strumento che leggesse questi file senza caricarli nella memoria. Da allora sono cambiate molte cose, e il codice è stato riscritto più volte.
        La casa è dall'altra parte del fiume.
        Se si usa Docker, bisogna prima creare un volume per i dati di PostgreSQL.
        Non so che cosa fare di questa funzione.
    """,
    "pt": """
        Isto não é um erro.
        Como posso mudar a senha?
        O arquivo não existe.
        Leia primeiro as instruções de uso.
        Todos os dados ficam na pasta do projeto.
        Para instalar o pacote, digite o comando a seguir em um terminal.
        Este capítulo explica como criar um novo ramo com o Git e como publicá-lo no GitHub.
        Escrevemos esta biblioteca há três anos, porque não havia nenhuma ferramenta que lesse esses arquivos sem carregá-los na memória. Desde então muitas coisas mudaram, e o código foi escrito de novo várias vezes.
        A casa fica do outro lado do rio.
        Se você usa o Docker, crie antes um volume para os dados do PostgreSQL.
        Não sei o que fazer com esta função.
    """,
    "nl": """
        Dit is niet goed.
        Hoe kan ik het wachtwoord wijzigen?
        Het bestand bestaat niet.
        Lees eerst de handleiding.
        Alle gegevens staan in de map van het project.
        Om het pakket te installeren typt u de volgende opdracht in een terminal.
        Dit hoofdstuk beschrijft hoe je met Git een nieuwe tak maakt en die op GitHub zet.
        Wij hebben deze bibliotheek drie jaar geleden geschreven, omdat er nog geen programma was dat zulke bestanden kon lezen zonder ze in het geheugen te laden. Sindsdien is er veel veranderd en is de code al een paar keer opnieuw geschreven.
        Het huis staat aan de andere kant van de rivier.
        Wie Docker gebruikt, moet eerst een volume maken voor de gegevens van PostgreSQL.
        Ik weet niet wat ik met deze functie moet doen.
    """,
    "pl": """
        To nie jest błąd.
        Jak można zmienić hasło?
        Plik nie istnieje lub jest pusty.
        Najpierw przeczytaj, jak to działa.
        Wszystkie dane są w katalogu projektu.
        Żeby zainstalować pakiet, wpisz w terminalu to polecenie.
        Ten rozdział opisuje, jak w programie Git utworzyć nową gałąź i jak ją wysłać do serwisu GitHub.
        Napisaliśmy tę bibliotekę trzy lata temu, bo nie było jeszcze narzędzia, które czytałoby takie pliki bez ładowania ich do pamięci. Od tego czasu wiele się zmieniło, a kod był już kilka razy pisany od nowa.
        Dom stoi po drugiej stronie rzeki.
        Jeśli używasz Dockera, najpierw utwórz wolumin dla danych bazy PostgreSQL.
        Nie wiem, co zrobić z tą funkcją.
    """,
    "sv": """
        Det här är inte bra.
        Hur kan jag byta lösenord?
        Filen finns inte.
        Läs anvisningarna innan du börjar, och spara dem.
        Alla data ligger i projektets mapp.
        För att installera paketet skriver du det här kommandot i en terminal.
        I det här kapitlet visar vi hur man skapar en ny gren med Git och lägger upp den på GitHub.
        Vi skrev det här biblioteket för tre år sedan, eftersom det inte fanns något verktyg som kunde läsa sådana filer utan att ladda dem i minnet. Sedan dess har mycket ändrats, och koden har skrivits om flera gånger.
        Huset ligger på andra sidan av floden.
        Om du använder Docker måste du först skapa en volym för data från PostgreSQL.
        Jag vet inte vad jag ska göra med den funktionen.
    """,
    "ja": """
        これは誤りではありません。
        パスワードを変更する方法
        ファイルが見つかりません。
        最初に説明書をお読みください。
        データはすべてプロジェクトのフォルダーにあります。
        パッケージをインストールするには、端末で次のコマンドを実行します。
        この章では Git で新しいブランチを作り、GitHub に公開する方法を説明します。
        このライブラリは三年前に書きました。当時は、ファイル全体をメモリーに読み込まずに処理できる道具がありませんでした。その後、コードは何度も書き直されています。
        家は川の向こう側にあります。
        Docker を使う場合は、PostgreSQL のデータ用のボリュームを先に作成してください。
        カタカナ
    """,
    "ru": """
        Это не ошибка.
        Как изменить пароль?
        Файл не найден.
        Сначала прочитайте инструкцию.
        Все данные лежат в папке проекта.
        Чтобы установить пакет, введите в терминале следующую команду.
        В этой главе рассказано, как создать новую ветку в Git и опубликовать её на GitHub.
        Мы написали эту библиотеку три года назад, потому что тогда не было программы, которая читала бы такие файлы, не загружая их в память. С тех пор многое изменилось, и код несколько раз переписан заново.
        Дом стоит на другом берегу реки.
        Если вы пользуетесь Docker, сначала создайте том для данных PostgreSQL.
        Я не знаю, что делать с этой функцией.
    """,
    "zh": """
        这不是错误。
        如何更改密码
        找不到文件。
        请先阅读说明书。
        所有数据都在项目的文件夹里。
        要安装这个软件包，请在终端中输入下面的命令。
        本章介绍如何用 Git 新建分支，并把它发布到 GitHub。
        我们三年前写了这个库，因为当时还没有工具能够处理这种文件而不把它全部读入内存。从那以后很多东西都变了，代码也重写了好几次。
        房子在河的对岸。
        如果使用 Docker，请先为 PostgreSQL 的数据创建一个卷。
        我不知道该怎么处理这个函数。
    """,
    "la": "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua.",
    "da": "Vi skrev det for tre år siden, fordi der ikke var noget andet, og koden er blevet skrevet om af flere.",
    "cs": "Tuto knihovnu jsme napsali před třemi lety, protože tehdy nebylo nic, co by se dalo použít.",
    "fi": "Tämä ei ole virhe, mutta se voidaan korjata myös myöhemmin, jos niin halutaan.",
    "uk": "Це не помилка, її можна виправити пізніше.",
    "ko": "이것은 오류가 아닙니다.",
    "el": "Αυτό δεν είναι λάθος.",
    "ar": "هذا ليس خطأ في البرنامج.",
    "he": "זו אינה שגיאה בתוכנית.",
}

PARAGRAPHS = [(code, line.strip()) for code, lines in FOREIGN.items() for line in lines.strip().splitlines()]

ENGLISH = """
    Installation
    Getting started
    Los Angeles, San Jose, El Paso, La Jolla and San Diego
    Juan de la Cruz, Maria del Carmen, Jean-Luc de la Tour, Otto von Bismarck, Leonardo da Vinci
    Gödel, Erdős, Poincaré, Hölder, Łukasiewicz, Schrödinger, Ångström
    La La Land, Le Monde, El Niño, Die Welt, Der Spiegel, Das Kapital, Il Postino
    Contributors: André Dupont, François Müller, José María del Río, Søren Åkesson
    pip install --user foo bar baz
    git checkout -b new_branch origin/main
    int i, j, n, m, x, y, z, o, u, w, s, e
    a, e, i, o, u, y
    x = a + b * c - d / e; y = u + v; z = w
    foo(bar, baz).qux.quux(de, la, un)
    std::vector<int> vec, des, src, dst, tmp, res, val
    src, dst, des, res, par, per, con, pro, sub, sur, tout, met, den, var
    De facto, ad hoc, et al, per se, in vitro, vice versa, etc.
    See Müller et al., pp. 3-4.
    Red, Green, Blue, Alpha
    The motto of the country is "liberté, égalité, fraternité" in all of its texts.
    He said "das ist nicht gut und wir wissen es", and nobody in the room answered.
    The German article der, die, das, des, dem and den depends on gender and case.
    In French, le, la and les are articles; un, une and des as well.
    The character 水 means water, and 火 means fire.
    Set α and β so that γ is small.
    Select the locale: de, en, es, fr, it, ja, nl, pl, pt, ru, sv, zh
    de_DE, fr_FR, es_ES, pt_BR, nl_NL
    Host name, user name, password
    New in version 2.1
    Die casting and war games
    Does Dr. van der Berg come on 5 May?
    Use the `der` and `die` options, or `les`.
    OK
    Yes / No
    http://example.org/de/la/un/des
    Rue de la Paix, Avenue des Champs, Place du Marché
    Rio de Janeiro, Porto Alegre, Belo Horizonte, Foz do Iguaçu
    SELECT de, la FROM un WHERE me = se AND te = ne
    Hello, world!
    Read the docs, then run it.
    No more tears in heaven.
    As in any on or off state, so am I.
    No, me neither.
    Con man sues son: door war on plus side, till men come
    Van Morrison, Dan Brown, Al Gore, Don Juan, Will Smith
"""

NOT_FOREIGN = [line.strip() for line in ENGLISH.strip().splitlines()]


@pytest.mark.parametrize(("code", "text"), PARAGRAPHS, ids=[text[:30] for _, text in PARAGRAPHS])
def test_a_paragraph_of_another_language(code, text):
    (paragraph,) = find_foreign_paragraphs(text, "en")
    assert (paragraph.start, paragraph.end) == (0, len(text))
    assert LANGUAGE_NAMES[paragraph.language] == LANGUAGE_NAMES[code]


@pytest.mark.parametrize("text", NOT_FOREIGN)
def test_english_names_and_code_are_never_another_language(text):
    assert find_foreign_paragraphs(text, "en") == ()


@pytest.mark.parametrize(("code", "text"), PARAGRAPHS, ids=[text[:30] for _, text in PARAGRAPHS])
def test_no_paragraph_is_foreign_to_its_own_language(code, text):
    assert find_foreign_paragraphs(text, code) == ()


def test_paragraphs_end_at_blank_lines_separators_and_long_lines():
    german, english = "Das ist nicht gut, und es wird nicht besser.", "This is not a bad thing to do at all."
    text = f"{english}\n{english}\n\n{german}\n{german}\n \n{english}\u2029{german}\u2029{english}"
    paragraphs = find_foreign_paragraphs(text, "en")
    assert [text[one.start : one.end] for one in paragraphs] == [f"{german}\n{german}", german]
    lines = f"{english * 4}\n{german * 4}\n{english}"
    assert [lines[one.start : one.end] for one in find_foreign_paragraphs(lines, "en")] == [german * 4]


def test_the_expected_language_can_be_another():
    text = "This is an English paragraph, and it is not read."
    assert [one.language for one in find_foreign_paragraphs(text, "de")] == ["en"]
    assert find_foreign_paragraphs("Das ist nicht gut.", "xx") == ()
    assert find_foreign_paragraphs("Das ist nicht gut.", "ja") == ()


def test_short_paragraphs_of_a_text_in_another_language():
    sentences = "Das ist ein Satz, den man nicht lesen muss.\n\n" * 3
    short = "zeigt einen Hilfstext an\n\nsetzt den Wert\n\nThe value is set.\n\nGerman names\n\n"
    foreign = [
        (short + sentences)[part.start : part.end]
        for part in find_foreign_paragraphs(short + sentences, "en")
    ]
    assert foreign[:2] == ["zeigt einen Hilfstext an", "setzt den Wert"]
    assert not {"The value is set.", "German names"} & set(foreign)
    english = "This is a sentence that one must not read.\n\n" * 6
    foreign = [
        (short + sentences + english)[part.start : part.end]
        for part in find_foreign_paragraphs(short + sentences + english, "en")
    ]
    assert "setzt den Wert" not in foreign


def test_rows_of_names_and_numbers_are_not_a_language():
    names = "alice harry rachel robert".split()
    rows = "\n".join(f"{name} {other} tea juice 0.{len(name)}" for name in names for other in names)
    prose = "The tea is for them. " * 10
    text = f"{rows}\n\n{prose}\n\n{' '.join(names * 10)}"
    paragraphs = find_foreign_paragraphs(text, "en")
    assert [text[one.start : one.end] for one in paragraphs] == [rows, " ".join(names * 10)]
    assert {one.language for one in paragraphs} == {NO_LANGUAGE}
    assert find_foreign_paragraphs(" ".join(names * 4), "en") == ()
    assert find_foreign_paragraphs(f"{' '.join(names * 9)} and the", "en") == ()


def test_a_paragraph_in_one_of_several_languages_is_not_foreign():
    text = (
        "Das ist nicht gut.\n\nThis is not a bad thing to do.\n\nQuesto non è un errore, ma è molto strano."
    )
    assert [one.language for one in foreign_to_all(text, ["en", "de"])] == ["it"]
    assert foreign_to_all(text, []) == []


@pytest.mark.parametrize(
    ("counts", "phrase"),
    [
        ({"de": 1}, "1 paragraph that is not in English (it looks like German)"),
        ({"de": 2}, "2 paragraphs that are not in English (they look like German)"),
        ({"de": 2, "fr": 1}, "3 paragraphs that are not in English (most look like German)"),
        ({NO_LANGUAGE: 2}, "2 paragraphs that are not in English (they look like lists or data)"),
    ],
)
def test_the_phrase_for_messages(counts, phrase):
    assert describe_foreign(counts, ["en"]) == phrase


@pytest.mark.parametrize(
    "piece", ["a ", "ü ", "der ", "\n", "\n\n", "\u2029", "das ist die\n\n", "я ", "水", "x" * 130 + "\n"]
)
def test_time_is_linear(piece):
    def find(size: int) -> None:
        find_foreign_paragraphs(piece * (size // len(piece)), "en")

    assert grows_linearly(find, 200_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Its being late is fine.", True),
        ("its not having a roof makes it cold.", True),
        ("Its being so hard to open won't help us.", True),
        ("Its being built now.", False),
        ("Its being late is it?", False),
        ("Its being said that the road is closed.", False),
        ("Its roof is red.", False),
    ],
)
def test_gerunds_as_subjects(text, expected):
    assert begins_gerund_subject(text, 3) is expected
    assert begins_gerund_subject(f"We know. {text}", 12) is expected
