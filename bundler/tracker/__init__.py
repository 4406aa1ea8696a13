"""The issue trackers: where a report goes, what it looks like there, and how it is posted.

    places      the trackers that npubug knows: pure data
    submit      post once, whatever the network does; look for similar issues
    gitcode     the gitcode API v5
    github      the GitHub REST API
    client      one HTTP request, errors and waiting included; secrets stay in here

Where to look: a tracker's address, title style and form are in `places`; the words of its form are in
`templates/`; everything that talks to a network is in this package and nowhere else.
"""
