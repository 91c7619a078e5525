"""The words behind the heuristics of `wording` and `occurrence`. Owns lists; decides nothing."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# spelled like an identifier, but names that prose denies ("no need for GraphQL")
NAMES = _words(
    "javascript typescript github gitlab bitbucket youtube linkedin paypal openai chatgpt langchain"
    " postgresql mysql mongodb dynamodb sqlite nosql graphql websocket websockets devops powershell"
    " wordpress macos ios iphone ipad ebay jquery oauth pytorch tensorflow numpy fastapi openapi"
    " cloudflare elasticsearch rabbitmq latex bigquery cloudformation hubspot mailchimp quickbooks"
    " facebook tiktok whatsapp node.js next.js vue.js nuxt.js express.js d3.js .net asp.net"
)
# first and later parts of English compounds: "read-only" is prose, "aws-sdk" a name in code
COMPOUND_FIRST = _words(
    "third first second one two multi cross end real non anti self well long short high low best"
    " worst on off up down follow built read write opt open closed pre post re co over under in out"
    " state hard plain hand user case time cost full half fail front back zero day error all any so"
    " as by ad de ex fine free old new ready run e man"
)
COMPOUND_LATER = _words(
    "based free only like time specific level related party friendly safe side up in out off down"
    " coded source effort end demand case built grade aware driven proof wide made known to the of"
    " day house text facing ended sensitive insensitive"
)
# one slash between two words is prose here, and a path or a media type elsewhere
SLASHED = _words(
    "and/or ci/cd tcp/ip i/o n/a read/write yes/no client/server pass/fail input/output he/she"
    " his/her w/o either/or a/b on/off true/false"
)
# the grammar that decides whether a phrase survives its denial
SUBJECTS = _words("i we you it they he she this that there")
AUXILIARIES = _words(
    "is are was were am will would can could should must shall may might do does did has"
)
# what "'s" and its like turn into a subject with its verb; after other words it is a possessive
SHORTENED = SUBJECTS | _words("here what who where how")
NEGATIONS = _words("no not never cannot without unable nothing none nobody neither nor")
# what may follow a stem within one word
ENDINGS = _words(
    "s es ed d er ers ing ings ion ions ation ations ies ied y e ily ly or ors able ability ment"
    " ments ive al ally ity ities ance ence ant ent ous ness t th ure ures"
)
SIMPLE_ENDINGS = _words("s es d ed ing")
