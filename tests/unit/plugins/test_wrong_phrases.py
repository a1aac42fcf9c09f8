"""Phrases that are wrong in any context, and sentences that only look like them."""

import re
from pathlib import Path

import pytest
from disambig_real_words import ENGLISH_PHRASES, PhraseTable, read_phrases

from disambig.api import Words
from disambig.data import record_edit, replacement
from disambig.errors import UserError

WRONG = """
They decided {going|to go} home before dark.
He wanted {visiting|to visit} his aunt.
She is interested in {know|knowing} more.
He left without {tell|telling} us.
I often {think in|think of} him.
We {went|went to} the cinema last night.
Let us go to {cinema|the cinema} tonight.
They came {to |}home late.
He plays {the |}chess every Sunday.
She speaks {the |}French very well.
They are similar {with|to} ours.
He {answered to|answered} my letter.
They reached {to |}the summit at noon.
She is looking for {job|a job} in town.
Her brother is {doctor|a doctor} in Leeds.
My uncle is {engineer|an engineer}.
They {been|have been} married for years.
She {going|is going} to buy a bag.
He gave {she|her} a ring.
{Does|Do} your parents know?
How {much|many} brothers do you have?
He doesn't have {many|much} money.
One of my friends {have|has} a boat.
He never {drink|drinks} tea.
I think {is|it is} important to rest.
We have lived here {since|for} ten years.
Let us meet {in|on} Friday evening.
It starts {in|at} nine o'clock.
She has two {cat|cats} and a dog.
The copy is of {same|the same} type.
This is done in {same|the same} way.
The output is {same|the same} as the input.
There are {couple of|a couple of} things to consider.
It grows depending on {number of|the number of} cores.
This is done in {next|the next} step.
See the code in {second|the second} example.
I was born {in|on} Monday evening.
The shop closes {at|on} Sunday.
He called me {at|on} my birthday.
We rest {in weekends|on weekends}.
I get up late {at|in} the morning.
They had to work {in night|at night} because of the noise.
She stayed {in home|at home} with her cat.
{In my point of view|From my point of view} it is too far.
{According to my opinion|In my opinion}, it is too far.
He left {in the age of|at the age of} twenty.
I found it {in|on} the internet.
We went {by the bus|by bus} to town.
I cannot do it {by|on} my own.
I have not seen him {since|for} a long time.
We moved here {before two years|two years ago}.
I will {explain you|explain to you} the rules.
Can you {tell to|tell} me the way?
I will {say|tell} you what it costs.
Please {help to|help} me!
We are {waiting you|waiting for you} at the gate.
He {arrived to home|arrived home}.
This bag is {different of|different from} mine.
She is {interested about|interested in} music.
He was {accused for|accused of} theft.
She {suffers of|suffers from} stress.
They took part {at|in} the race.
We went {to |}shopping with Ann.
She came {in|to} London last spring.
You can {contact with|contact} me by email.
The noise {affects to|affects} my sleep.
He {resembles to|resembles} his uncle.
It makes me {to |}laugh.
{How|What} does it look like?
They {can to|can} go home.
We {don't can|can't} hear you.
He wants to {can|be able to} speak.
You should avoid {to drink|drinking} coffee.
I am getting used {to work|to working} there.
He wants {to visiting|to visit} us.
I want {to went|to go} there.
Yesterday we {go|went} to the lake.
Last year, I {am|was} in Rome.
Two weeks ago they {visit|visited} us.
I {go|went} to the market yesterday.
When I {will |}arrive, I will call you.
I {am|was} born in May.
We {are not agree|do not agree} with him.
We {very like|really like} your garden.
That is {a |}good advice.
She had {a |}good news for us.
Many {childrens|children} are afraid of dogs.
{Most of|Most} people like music.
{Almost|Most} people like music.
I need {another|other} things for it.
He speaks {others|other} languages as well.
There {is|are} many cars outside.
Many people {thinks|think} so.
A lot of people {has|have} one.
I know people who {has|have} two.
Everybody {know|knows} her.
The {news are|news is} good.
A train is {more fast|faster} than a bus.
This one is {more cheaper|cheaper} than that one.
It is {so much|so} hot that we cannot sleep.
The box is {too much|too} heavy for me.
He is not {enough tall|tall enough} for the team.
I stayed because {is|it is} too far.
I think {is|it is} very good.
He left without {to pay|paying} the bill.
{All what|All that} I need is time.
I like people {which|who} have time.
We have the same car {than|as} you.
They came {at home|home} late.
He comes every {Sundays|Sunday}.
I see her every {days|day}.
{At the first|At first} I was afraid.
They are {in holidays|on holiday} with us.
He never says {nothing|anything} about it.
I {could of|could have} come along.
You {should of|should have} told me before.
That {would of|would have} been nice.
She {must of|must have} left early.
They {might of|might have} seen it already.
It {may of|may have} been the wind.
He said he {could of|could have} at least called.
{Should of|Should have} known better.
We {might not of|might not have} noticed it.
They {could not of|could not have} done more.
You {shouldn't of|shouldn't have} paid for it.
The gate {wouldn't of|wouldn't have} opened alone.
{I'd of|I'd have} gone with you.
{She'd of|She'd have} come if we had asked.
{They'd of|They'd have} never agreed to that.
{Who'd of|Who'd have} thought so?
I {would never of|would never have} found it.
Yes, you {should of|should have}.
They claim {to of|to have} been there.
If I {had of|had} known, I would have stayed.
What {should we of|should we have} done?
I have {went|gone} home.
Because she had {took|taken} the wrong road, we waited.
They have already {went|gone} to bed.
You should have {came|come} earlier.
It could have {ran|run} for years.
He must have {wrote|written} it in a hurry.
You could have {gave|given} me a hint.
We've never {saw|seen} such a mess.
She should've {went|gone} first.
Why did you {went|go} there?
I didn't {knew|know} that.
She did not {went|go} to the office.
They didn't {came|come} back.
Did he {told|tell} them?
We discussed {about |}the budget.
Let us discuss {about |}it tomorrow.
{Despite of|Despite} the rain, we left.
It works, {inspite of|in spite of} the noise.
She is {married with|married to} him.
Her aunt was {married with|married to} a doctor.
He {suggested me to|suggested that I} go by train.
I {suggest you to|suggest that you} read the guide.
They {suggested him to|suggested that he} take a break.
Can you {explain me|explain to me} how it works?
She {described me|described to me} the plan.
He {said me|told me} that it was late.
Please let me {to |}know.
I look forward to {meet|meeting} you.
We are looking forward to {receive|receiving} your answer.
We look forward to {see|seeing} you in May.
That depends {from|on} how you count.
The kit consists {in|of} three parts.
We arrived {to|at} the station at noon.
He arrived {to|in} Berlin yesterday.
You {are suppose to|are supposed to} wait here.
I was not {suppose|supposed} to say it.
The box was {in tact|intact} after the fall.
They found the seal and kept it {in tact|intact}.
The tool {it self|itself} is small.
It starts by {it self|itself}.
I made it by {my self|myself}.
He hurt {him self|himself}.
They blamed {them selves|themselves}.
{Mean while|Meanwhile}, the soup boils.
They {some how|somehow} managed.
It is {some what|somewhat} slow.
We read {each others|each other's} code.
They help {each others|each other}.
I learned {alot|a lot} of words.
It was, {infact|in fact}, a bird.
I want to be {apart of|a part of} the team.
For all {intensive purposes|intents and purposes} it is done.
{No body knows|Nobody knows} why.
Ask {some body else|somebody else}.
That is a {mute|moot} point.
The title {peaked|piqued} my curiosity.
Here is a sneak {peak|peek} at the menu.
We waited with {baited|bated} breath.
They gave him {free reign|free rein}.
She took over the {reigns|reins}.
The storm {wrecked|wreaked} havoc.
It is not wrong {per say|per se}.
It gives you {piece|peace} of mind.
Please {bare|bear} with me.
You must {bare|bear} in mind that it is old.
You have to make {due|do} with it.
{By in large|By and large}, it works.
{All of the sudden|All of a sudden} it rained.
We nipped it in the {butt|bud}.
The {statue|statute} of limitations has run out.
{Low and behold|Lo and behold}, it fits.
It was done by {slight|sleight} of hand.
It will {wet|whet} your appetite.
And {vise versa|vice versa}.
That does not {phase|faze} me.
They {poured|pored} over the documents.
They are {one in the same|one and the same}.
It is a {deep seeded|deep-seated} fear.
They made her the {escape goat|scapegoat}.
{Do|Due} to the fact that it rained, we stayed.
The town was saddled {to|with} debt.
One of the {user|users} is here.
This is one of these {problem|problems}.
We wrote a {an |}test.
We wrote {a |}an article.
Ask a {an |}user.
We {should been|should have been} told earlier.
You {should to|should} check the settings first.
{Everyone know|Everyone knows} that it takes a while.
Could you {please to|please} check the door?
We {am agree|agree} with the plan.
She {is agree|agrees} with me.
Did you {saw|see} the message?
Did they {found|find} it in time?
The box {get's|gets} full, and he {want's|wants} another.
It {need's|needs} a new battery.
{Each of the rooms have|Each of the rooms has} a window.
We look forward to {see|seeing} the garden.
The hook is used for {create|creating} a new folder.
The tool is capable {to read|of reading} long files.
It is worth {to mention|mentioning} that it rained.
He insisted {to pay|on paying} the bill.
They succeeded {to build|in building} the bridge.
We enjoyed {to watch|watching} the birds.
Thanks for {help|helping} me.
Make sure {to not to|not to} lock the door.
The price depends {from|on} the weather.
We arrived {to|at} a decision at last.
She is good {in|at} chess.
The set {comprises of|comprises} six spoons.
He {told to me|told me} that it was late.
She asked {to him|him} if it was true.
We have lived here {since|for} three years.
It is the same {than|as} before.
Ours has the same size {than|as} theirs.
The train is {more faster|faster} than the bus.
This is the {most easiest|easiest} way home.
{This two|These two} chairs are broken.
The shop closed two {week|weeks} ago.
For further {informations|information} call the office.
There are {a lots of|a lot of} birds and {lot's of|lots of} trees.
The steps are as {following|follows}: open it, wait.
We met {an other|another} guest.
The path runs {along side|alongside} the river.
Take the stairs {in stead|instead} of the lift.
He left {with out|without} having paid.
She stayed {be cause|because} it rained.
{Further more|Furthermore}, it was cold.
The belief is {wide spread|widespread} among sailors.
{Now a days|Nowadays} few people write letters.
It took them a year to {over come|overcome} the loss.
They looked {in side|inside} the box.
See the list {bellow|below} for details.
The mail {severs|servers} were slow.
It is {publically|publicly} known.
He {accidently|accidentally} broke it.
The thief was {catched|caught} at noon.
Who {payed|paid} for the tickets?
We found it by {try and error|trial and error}.
{On other hand|On the other hand}, it is cheap.
""".strip().splitlines()

RIGHT = """
They met at the same time, at one and the same place.
The deals of same-day delivery are good.
They married a couple of weeks ago, on the first and second day.
The number of cores depends on the number of people.
What they decided going in was this.
He went the extra mile.
I think what matters is important to you.
What I think is important to me is this.
It has been ten days since two weeks of rain ended.
He was sworn in Friday morning.
She read the letter and never read it again.
Did she never drink tea?
It is important that he always drink water.
I asked that she never come back.
In all the house there was no light.
How much people are paid is a secret.
She is teacher of the year.
He had seen her and she going to the door.
We could of course wait.
I would of necessity agree.
She could not of her own accord leave.
He ate what he could of the cake.
Take as much as you could of it.
The might of Rome was broken.
It is a must of the season.
This was the will of the people.
They feared the might of united armies.
The full might of the law fell on him.
By the might of done deeds he was known.
A must of fermented grapes stood in the vat.
I did all I should of the work.
You may of course ask.
He must of course sign it.
They might, of course, be late.
I'd of course help you.
She'd of late been ill.
They read what they could of broken tablets.
We saved as many as we could of them.
The best we could of a bad lot was chosen.
In May of 1999 it rained.
The may of the hedges was white.
It was the work of a can of paint.
He fell out of a would-be hero's arms.
A can of worked wood oil is here.
The keys I have went missing.
The money they had went into the house.
Everything we had went up in smoke.
The job that he had went to his brother.
The last train we have came from Leeds.
What I had became useless.
The chances we had came and went.
All they have did not help.
The dog she had ran away.
The idea I had came late.
The few friends that they had took part.
Those who did not went home.
Some did, and those who didn't stayed.
What he did went unnoticed.
The work she did took years.
What they did became known.
Those who didn't came back.
The thing he did made us laugh.
Did he found the company?
Did you saw the board in half?
What they did wanted courage.
What we discussed about the plan is secret.
There is nothing to discuss about it.
There is much to discuss about the budget.
The topics that we discuss about the town are old.
He wrote it in despite of the rules.
She is married with two children.
They are married with a dog.
He was married with great ceremony.
They suggested him to the board.
I suggest you to nobody.
He suggested me for the job.
It suggested to us a new plan.
That does not explain me being late.
The letter explains itself.
He said to me that it was late.
She let the house to them.
They let her to a sailor.
Let me see what it does.
The flat was let to go to seed.
I look forward to work on Monday.
We look forward to help from you.
He leaned and looked forward to see who came.
They look forward to the meeting.
We look forward to visits.
Look forward to reply cards in the mail.
Claim 4 depends from how claim 2 is read.
The lamp depends from the ceiling.
Happiness consists in being content.
Virtue consists in this.
They arrived to find the door open.
She arrived to great applause.
He arrived to a cold house.
We suppose to this day that it fell.
I suppose to some it is odd.
He is lacking in tact.
They were trained in tact and patience.
It was a lesson in tact.
She is wanting in tact.
A question of tact is in the air.
Let it self destruct.
Run it self hosted.
Keep it self contained.
The system makes it self sufficient.
My self esteem is low.
This hurt my self confidence.
It raises her self esteem.
He made him self conscious.
The self is a riddle.
They are mean while they wait.
What do you mean while you laugh?
People are mean while tired.
She gave us some how to guides.
It explains some how it works.
They give some what they need.
Some what was said was false.
We read some how others lived.
We know each others may fail.
For each, others were found.
In each others may join.
The two were kept apart of course.
They stood apart of their own will.
He is far apart of late.
It serves intensive purposes.
Courses for intensive purposes are offered.
No body was found.
The response has no body.
If there is no body, the request fails.
No body of water is near.
Some body of law applies.
Every body in orbit moves.
Any body of text will do.
Press the mute button.
The mute point in the video is at 0:15.
Demand peaked in May.
Interest peaked in July.
Sales peaked my first year there.
The peak was hidden.
He baited the hook with breath held.
The free reign of queens was short.
The reigns of both kings were long.
He took the reigns of two kings as a theme.
The wreck was a hazard.
It costs ten dollars per say five pages.
Give him a piece of my mind.
He took a piece of mind-numbing work.
The walls were bare with paint gone.
They laid it bare in May.
The rent is due with interest.
They make due note of it.
By in-house rules it is banned.
He stood by in large boots.
All of the sudden changes were logged.
All of the sudden rain fell at night.
He kicked it in the butt.
The statue of a king stood there.
She bowed low and looked up.
There is a slight of his family in it.
He is slight of build.
She wet her lips.
It rained and wet your coat.
The vise is on the bench.
We do not phase it in.
They phase out old parts.
She poured over the rice a sauce.
He poured water over the documents.
Two in one in the same box is fine.
They met as one in the same room.
The lawn was deep and seeded.
The escape of a goat was noticed.
Do to others as you wish.
What will you do to the fact sheet?
Nobody knows what you do to the rain barrel.
They were saddled and led to the barn.
One of the team is here.
One of the family has left.
One of the user and group ids is set.
One of the file system checks failed.
One of the crew was ill.
They took part of the time.
Take each other's word.
Is it in fact so?
You could have of course come.
The could-of of the old text is quoted.
All we could to help was done.
What you must to some extent accept is the noise.
It is used for create statements in the log.
The cable depends from the ceiling.
He succeeded to the throne.
It is more like rain than the same.
There are more smaller shops than larger ones.
A story told to me the other day was longer.
It has been long since two years were enough.
Several day trips are offered.
Such as following a map.
Do you want an other-worldly view?
They walked along side streets.
He kept us in good stead.
It may be cause for alarm.
A wide spread of values is normal.
We had trouble shooting the rapids.
Others people know, and others things escape.
The bulls bellow at night.
One cut severs the rope.
They payed out the rope.
Read the try and error handling chapter.
In the other hand she held a lamp.
No other wise men came.
Did you saw the board in two?
Did she found a company?
In town they met on Sunday, and at night they slept.
He read it in the newspaper and in a book.
The old system in television is gone.
It is by my own hand.
Since a week had passed, they left.
Before two years had passed they were rich.
They wait on him, and he waits for them.
It had no affect on the figures.
He called to her, and she helped to carry it.
The path goes in Europe by another name.
He took part of the land.
They explained it to you as well as to them.
He is happy to can tomatoes and fruit.
Women need to spend money to travel; they avoided her to the end.
Yesterday I was ill, and last year I had gone.
When will I arrive? If you will be so kind, wait.
I am born again in this poem.
She got an information desk and an equipment list.
Childrens' books are on the left.
They made the most of the day.
A people which has its own language is a nation.
One of the people who has seen it told me.
The number of people who has it is low.
There is many a slip.
The news sources are few.
Nothing is taller, and no more is needed.
He has enough good books, and so much to do.
This word is part of the sentence because is a verb.
What they think is very good is cheap.
There is nothing that he never says; all that I need is here.
He stays at home, and he comes home at noon.
Every day counts, and on Sundays we rest.
At the first sign of rain I left.
The rate is lower than there was five years ago.
There is five minutes left.
The concert I was going to was cancelled.
The place we were going to had closed.
Half of my salary is going to paying rent.
His first win came in Spain last year.
It is a bug we believe is the cause.
It is a city I think is very beautiful.
In some cultures it is rude, in others people like it.
Ask your friends which is best.
We asked the man which was his.
Hiring a lot of people is risky.
The mother of the children who has to go is here.
He is a man of the people who has since left.
Nobody need fear him.
People who make the news are rarely happy.
They took part on the first day and at the time.
How are things going at the hospital?
How did it go at school?
How did it go at home?
The keys come with the car, and the manual too.
He was at the finish to see it.
They quit to live with his parents.
Values pointed to can be freed.
There are flags that we should look for to make sure.
But since a long time has passed, we can talk.
When they will leave remains a mystery.
If they will come is another question.
Look at the evening, the sea and the stars.
I was scared from the start.
They were too excited to attend to lessons.
It demanded the most of us.
We are all what we eat.
The last goal came at home early in the season.
The growth is in holidays in Spain.
There are more old than young people.
There is congestion in the internet and in data centres.
Take every opportunity you can to learn from others.
When it works it is fine, and when it doesn't can be tedious.
It is above all what is hoped for.
""".strip().splitlines()


@pytest.fixture(scope="module")
def table() -> PhraseTable:
    return read_phrases(ENGLISH_PHRASES)


def corrected(table: PhraseTable, text: str) -> tuple[str, list[str]]:
    view = Words()([text])
    wrong = table.find(view)
    places = zip(wrong.positions.tolist(), wrong.lengths.tolist(), wrong.texts, strict=True)
    seen = []
    for at, n, (written, correction) in reversed(list(places)):
        start, end = int(view.starts[at]), int(view.ends[at + n - 1])
        assert text[start:end] == written
        seen.append(f"{written} -> {correction}")
        new = replacement(correction, text, start, end)
        edit = record_edit({"start": start, "end": end, "observed": written, "replacement": new}, text)
        text = text[: edit["start"]] + edit["replacement"] + text[edit["end"] :]
    return text, seen


@pytest.mark.parametrize("row", WRONG)
def test_a_wrong_phrase_has_its_correction(table: PhraseTable, row: str):
    text, wanted = (re.sub(r"\{([^|}]*)\|([^}]*)\}", group, row) for group in (r"\1", r"\2"))
    new, seen = corrected(table, text)
    assert seen and new == wanted
    assert corrected(table, new) == (new, [])


@pytest.mark.parametrize("text", RIGHT)
def test_a_right_sentence_is_left_alone(table: PhraseTable, text: str):
    assert corrected(table, text) == (text, [])


def test_a_phrase_over_two_lines_is_corrected_in_its_line(table: PhraseTable):
    assert corrected(table, "Somebody could\nof told me.") == (
        "Somebody could\nhave told me.",
        ["of -> have"],
    )


def test_names_and_mentions_are_left_alone(table: PhraseTable):
    for text in ("We met the Their Selves band and our Selves.", "He wrote \x1fcould of\x1f come."):
        assert not corrected(table, text)[1]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("could of", "expected a pattern"),
        ("could of\t$3 have", "is not a correction"),
        ("could of\t", "is not a correction"),
        ("[could of]\tcould have", "outside of brackets"),
        ("could [of] been\tx", "outside of brackets"),
        ("could [of\tx", "outside of brackets"),
        ("could VERB\tx", "no set 'VERB'"),
        ("Could of\tx", "lower case"),
        ("*ed *ly\tx", "whole words"),
        ("could of\tx\tcourse", "needs one _"),
        ("could of\tx\t_", "needs words"),
        ("set verb\tgo come", "name of a set"),
        ("set VERB\t", "empty"),
        ("pairs verb\twent=gone", "name of a set"),
        ("pairs VERB\t", "is not a pair"),
        ("pairs VERB\twent=gone came", "'came' is not a pair"),
        ("pairs VERB\twent=", "'went=' is not a pair"),
    ],
)
def test_an_invalid_line_is_named_with_its_number(tmp_path: Path, line: str, problem: str):
    path = tmp_path / "xx.tsv"
    path.write_text(f"# comment\n\n{line}\n", encoding="utf8")
    with pytest.raises(UserError) as caught:
        read_phrases(path)
    assert caught.value.code == "D995" and "line 3: " in str(caught.value) and problem in str(caught.value)


def test_pairs_stand_for_a_line_each(tmp_path: Path):
    short, long = tmp_path / "short.tsv", tmp_path / "long.tsv"
    short.write_text("pairs VERB\twent=gone saw=seen\n[have] VERB\tVERB\twhat _\nthey seen\tthey saw\n")
    long.write_text("[have] went\tgone\twhat _\n[have] saw\tseen\twhat _\nthey seen\tthey saw\n")
    assert read_phrases(short).phrases == read_phrases(long).phrases


def test_another_language_has_its_own_table(tmp_path: Path):
    path = tmp_path / "de.tsv"
    path.write_text(
        "set PRO\tich du wir\n[PRO] einzigste\teinzige\tder _\nwegen dem\twegen des\t_ ... kind|kinder\n",
        encoding="utf8",
    )
    table = read_phrases(path)
    assert len(table) == 2
    assert corrected(table, "Wegen dem Regen blieb ich.")[0] == "Wegen des Regen blieb ich."
    assert corrected(table, "Wegen dem lieben Kind blieb ich.")[1] == []
